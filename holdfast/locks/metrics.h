#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

namespace holdfast::locks {

// The functions through which a provider reports events to the metrics library of the program.
// holdfast::metrics::PrometheusMetrics is a ready set of them.
//
// Called from any thread; they must be quick and must not throw. Empty functions are not called.
// `name` is the lock's, as the caller wrote it, and empty for an event of several locks or of none
// (renewals and the circuit breaker). There may be any number of names, and callers may choose
// them: a label needs a bound.
//
// Counters:   acquired, contended, timed_out, cancelled, failed, released, not_held, handed_over,
//             renewed, renew_failed, lost, unknown_outcome
// `not_held` counts releases that found the lease expired or stolen. It does not count a lease that
// no caller had yet, or that may have been handed over when the reply was lost.
// Durations:  acquire_wait, hold, renew_batch
struct Metrics {
  std::function<void(std::string_view counter, std::string_view name, std::uint64_t by)> count{};
  std::function<void(std::string_view duration, std::string_view name,
                     std::chrono::nanoseconds value)>
      observe{};
};

}  // namespace holdfast::locks
