#pragma once

#include <chrono>
#include <string>

#include "bench/local/contender.h"
#include "bench/local/keys.h"
#include "bench/local/measure.h"

namespace holdfast::bench {

inline const std::string kOwner = "5f0c6a52-8f3e-4b0b-9d61-2f6f1c7be0aa";
inline constexpr std::chrono::seconds kTtl{30};
// Longer than any run.
inline constexpr std::chrono::seconds kLongTtl = std::chrono::hours(24);

template <LeaseContender T>
void lease_all(T& leases, const Keys& keys, std::chrono::seconds ttl) {
  for (const std::string& key : keys) {
    if (!leases.try_lock(key, kOwner, ttl)) fail_broken(T::kName, "it refused a free key");
  }
}

template <LeaseContender T>
void unlease_all(T& leases, const Keys& keys) {
  for (const std::string& key : keys) {
    if (!leases.unlock(key, kOwner)) fail_broken(T::kName, "it forgot a lease");
  }
}

}  // namespace holdfast::bench
