#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

namespace holdfast::locks {

// Where a provider reports what happens, for whatever metrics library the program uses. Called from
// any thread; must be quick and must not throw. Empty functions are not called.
//
// Counters:   acquired, contended, timed_out, cancelled, failed, released, not_held, handed_over,
//             renewed, renew_failed, lost, unknown_outcome
// Of these, `not_held` counts releases that found the lease expired or stolen; not where no caller
// had it yet, or where it may have been handed over and the reply was lost.
// Durations:  acquire_wait, hold, renew_batch
struct Metrics {
  std::function<void(std::string_view counter, std::uint64_t by)> count{};
  std::function<void(std::string_view duration, std::chrono::nanoseconds value)> observe{};
};

}  // namespace holdfast::locks
