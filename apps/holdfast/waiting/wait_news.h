#pragma once

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include <holdfast/base/clock.h>

namespace holdfast::cli {

// The frequency of reports of a wait without a terminal. `never`: only an outage of the store is.
enum class Reminders : std::uint8_t { every_minute, none, never };
enum class Detail : std::uint8_t { usual, verbose };

// Decides when a wait is worth a line where there is no terminal: at its start, once per outage of
// the store, and once a minute. A verbose one is also worth a line when the holders have changed
// and when an outage is over. No I/O, no clock.
class WaitNews {
 public:
  using Tokens = std::vector<std::uint64_t>;

  WaitNews(Detail detail, Reminders reminders) : detail_(detail), reminders_(reminders) {}

  // To be asked after each look at the store: how long the wait has taken, whether the store is
  // unreachable, and the tokens of the holders if it is not.
  bool is_due(base::Duration waited, bool unreachable, Tokens holders) {
    const bool starts = !std::exchange(started_, true);
    const bool outage = unreachable != std::exchange(unreachable_, unreachable);
    const bool others = !unreachable && holders != holders_;
    const bool reminds = reminders_ == Reminders::every_minute && waited >= next_reminder_;
    if (!unreachable) {
      holders_ = std::move(holders);
    }
    const bool verbose = detail_ == Detail::verbose;
    const bool due = (starts && reminders_ != Reminders::never) || reminds ||
                     (outage && (unreachable || verbose)) || (others && verbose);
    if (due) {
      next_reminder_ = waited + std::chrono::minutes(1);
    }
    return due;
  }

 private:
  const Detail detail_;
  const Reminders reminders_;
  bool started_ = false;
  bool unreachable_ = false;
  Tokens holders_;
  base::Duration next_reminder_{};
};

}  // namespace holdfast::cli
