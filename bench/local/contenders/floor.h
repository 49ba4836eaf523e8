#pragma once

#include <functional>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "bench/local/measure.h"

namespace holdfast::bench {

// The lower bound for any lock by key: the standard's own locks, without a table.

// For uncontended keys: one hash, and a mutex that no other thread touches.
class OwnMutexFloor {
 public:
  static constexpr std::string_view kName = "floor";

  std::unique_lock<std::mutex> lock(const std::string& key) {
    static thread_local std::mutex mutex;
    keep(std::hash<std::string_view>{}(key));
    return std::unique_lock(mutex);
  }
};

// For one key that all threads lock exclusively.
class HotMutexFloor {
 public:
  static constexpr std::string_view kName = "floor";

  std::unique_lock<std::mutex> lock(const std::string&) { return std::unique_lock(mutex_); }

 private:
  std::mutex mutex_;
};

// For one key that all threads read.
class HotSharedMutexFloor {
 public:
  static constexpr std::string_view kName = "floor";

  std::shared_lock<std::shared_mutex> lock_shared(const std::string&) {
    return std::shared_lock(mutex_);
  }

 private:
  std::shared_mutex mutex_;
};

}  // namespace holdfast::bench
