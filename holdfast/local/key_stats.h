#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

#include <holdfast/base/text_format.h>

namespace holdfast::local {

// Statistics of a lock by key since it was made. Always on: they cost a few additions under a lock
// that is held anyway.
struct KeyLockStats {
  std::uint64_t acquisitions = 0;            // of either kind, however obtained
  std::uint64_t contended = 0;               // acquisitions that found the key taken and waited
  std::uint64_t timed_out = 0;               // waits that ended at their deadline
  std::uint64_t cancelled = 0;               // waits that ended by their stop token
  std::chrono::nanoseconds wait_time{0};     // all contended acquisitions together
  std::chrono::nanoseconds longest_wait{0};  // the longest of them

  friend bool operator==(const KeyLockStats&, const KeyLockStats&) = default;
};

// The state of one stripe of a StripedKeyLock, of all its keys together.
struct StripeState {
  std::size_t stripe = 0;
  bool exclusive = false;   // a writer holds it
  std::size_t readers = 0;  // how many readers hold it
  std::size_t waiting_exclusive = 0;
  std::size_t waiting_shared = 0;

  friend bool operator==(const StripeState&, const StripeState&) = default;
};

// The state of one key that is held or waited for, at one moment.
struct KeyState {
  std::string key;
  bool exclusive = false;   // a writer holds it
  std::size_t readers = 0;  // how many readers hold it
  std::size_t waiting_exclusive = 0;
  std::size_t waiting_shared = 0;

  friend bool operator==(const KeyState&, const KeyState&) = default;
};

// Returns one line for a log: KeyState { key = "a", exclusive = false, readers = 2, … }.
std::string to_string(const KeyState& state);
std::ostream& operator<<(std::ostream& out, const KeyState& state);

}  // namespace holdfast::local

template <>
inline constexpr bool holdfast::base::kFormatsAsText<holdfast::local::KeyState> = true;
