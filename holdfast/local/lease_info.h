#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>

namespace holdfast::local {

// One lease as seen at one moment.
struct LeaseInfo {
  std::string key;
  std::string owner;
  base::FencingToken token;
  base::Duration time_left;  // zero or less: expired, and not swept yet

  friend bool operator==(const LeaseInfo&, const LeaseInfo&) = default;
};

// What a sweep did, in slices. A slice is what it does under one hold of a lock: as long as that
// takes, and no longer, a caller may have to wait for the sweep.
struct SweepReport {
  static constexpr std::chrono::nanoseconds kStep{250};

  std::size_t removed = 0;
  std::size_t slices = 0;
  std::chrono::nanoseconds longest_slice{0};
  // How many slices took less than kStep, 2 * kStep, …; the last one counts all that took longer.
  std::array<std::size_t, 65> slice_times{};

  // The time that this share of the slices did not exceed, rounded up to whole steps.
  [[nodiscard]] std::chrono::nanoseconds slice_quantile(double share) const noexcept;
};

}  // namespace holdfast::local
