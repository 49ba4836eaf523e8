#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::bench {

// The interface of a lock by key to be measured; several threads may call it. `lock` returns a
// guard that unlocks when it is destroyed.
template <class T>
concept ExclusiveContender = requires(T contender, const std::string& key) {
  { T::kName } -> std::convertible_to<std::string_view>;
  contender.lock(key);
};

template <class T>
concept SharedContender = requires(T contender, const std::string& key) {
  { T::kName } -> std::convertible_to<std::string_view>;
  contender.lock_shared(key);
};

// The interface of a table of leases: both calls return whether they succeeded.
template <class T>
concept LeaseContender = requires(T contender, const std::string& text, std::chrono::seconds ttl) {
  { T::kName } -> std::convertible_to<std::string_view>;
  { contender.try_lock(text, text, ttl) } -> std::same_as<bool>;
  { contender.unlock(text, text) } -> std::same_as<bool>;
};

// `sweep_in` sweeps as if this much time had passed, and returns how many leases it removed.
template <class T>
concept SweepContender = LeaseContender<T> && requires(T contender, std::chrono::seconds later) {
  { contender.sweep_in(later) } -> std::same_as<std::size_t>;
};

}  // namespace holdfast::bench
