#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>
#include <holdfast/base/text_format.h>

namespace holdfast::local {

// The state of one lease at one moment.
struct LeaseInfo {
  std::string key;
  std::string owner;
  base::FencingToken token;
  base::Duration time_left;  // zero or less: expired, and not swept yet

  friend bool operator==(const LeaseInfo&, const LeaseInfo&) = default;
};

// Returns one line for a log: LeaseInfo { key = "a", owner = "b", token = 3, time_left = 29s }.
std::string to_string(const LeaseInfo& info);
std::ostream& operator<<(std::ostream& out, const LeaseInfo& info);

// The result of a sweep, which works in slices. A slice is the work under one hold of a lock: a
// caller waits for the sweep no longer than one slice takes.
struct SweepReport {
  static constexpr std::chrono::nanoseconds kStep{250};

  std::size_t removed = 0;
  std::size_t left = 0;  // leases in the table, each shard counted when the sweep left it
  std::size_t slices = 0;
  std::chrono::nanoseconds longest_slice{0};
  // The number of slices that took less than kStep, 2 * kStep, …; the last counts all longer ones.
  std::array<std::size_t, 65> slice_times{};

  // Returns the time that this share of the slices did not exceed, rounded up to whole steps.
  [[nodiscard]] std::chrono::nanoseconds slice_quantile(double share) const noexcept;
};

}  // namespace holdfast::local

template <>
inline constexpr bool holdfast::base::kFormatsAsText<holdfast::local::LeaseInfo> = true;
