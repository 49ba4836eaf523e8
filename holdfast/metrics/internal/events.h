#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace holdfast::metrics::internal {

struct Event {
  std::string_view name;  // as in locks::Metrics
  std::string_view help;
};

inline constexpr std::array kCounters = {
    Event{"acquired", "Locks that were acquired."},
    Event{"released", "Locks that were released."},
    Event{"renewed", "Renewals that succeeded."},
    Event{"contended", "Acquires that had to wait."},
    Event{"handed_over", "Releases that gave the lock to a waiter of the same provider."},
    Event{"timed_out", "Acquires whose wait was over."},
    Event{"cancelled", "Acquires that their caller cancelled."},
    Event{"failed", "Acquires and releases that ended with an error."},
    Event{"lost", "Locks whose lease ended before their release."},
    Event{"not_held", "Releases that found their lease expired or stolen."},
    Event{"renew_failed", "Renewals that failed and are tried again."},
    Event{"unknown_outcome", "Claims whose reply was lost."},
    Event{"breaker_opened", "Outages: the circuit breaker opened."},
    Event{"breaker_probed", "Calls that tried whether the store answers again."},
    Event{"breaker_closed", "Ends of outages: the circuit breaker closed."},
    Event{"degraded_to_none", "Acquires that continued without a lock."},
    Event{"degraded_to_local", "Acquires that excluded this process alone."},
};

inline constexpr std::array kDurations = {
    Event{"acquire_wait", "How long acquires waited."},
    Event{"hold", "How long locks were held."},
    Event{"renew_batch", "How long the store took to renew a batch of leases."},
};

// Returns the index of an event, or nullopt where there is none of this name.
[[nodiscard]] constexpr std::optional<std::size_t> index_of(const auto& events,
                                                            std::string_view name) noexcept {
  const auto found = std::ranges::find(events, name, &Event::name);
  if (found == events.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - events.begin());
}

}  // namespace holdfast::metrics::internal
