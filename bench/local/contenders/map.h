#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "bench/local/contenders/lease.h"

namespace holdfast::bench {

// The lock by key that most programs write: a mutex around a map of reference-counted
// reader-writer locks, the entry created on demand and erased by whoever leaves last.
class MapKeyLock {
 public:
  static constexpr std::string_view kName = "map";

 private:
  struct Entry {
    std::shared_mutex mutex;
    std::size_t users = 0;  // protected by the map's mutex
  };
  using Map = std::unordered_map<std::string, Entry>;

  class Use {
   public:
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   protected:
    Use(MapKeyLock& owner, const std::string& key) : owner_(owner), node_(owner.enter(key)) {}
    ~Use() { owner_.leave(node_); }
    std::shared_mutex& mutex() { return node_.second.mutex; }

   private:
    MapKeyLock& owner_;
    Map::value_type& node_;
  };

  class Exclusive : Use {
   public:
    Exclusive(MapKeyLock& owner, const std::string& key) : Use(owner, key) { mutex().lock(); }
    ~Exclusive() { mutex().unlock(); }
  };
  class Shared : Use {
   public:
    Shared(MapKeyLock& owner, const std::string& key) : Use(owner, key) { mutex().lock_shared(); }
    ~Shared() { mutex().unlock_shared(); }
  };

 public:
  Exclusive lock(const std::string& key) { return {*this, key}; }
  Shared lock_shared(const std::string& key) { return {*this, key}; }

 private:
  Map::value_type& enter(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    auto& node = *entries_.try_emplace(key).first;
    ++node.second.users;
    return node;
  }
  void leave(Map::value_type& node) {
    const std::scoped_lock lock(mutex_);
    // By its key, hashed again: an iterator would not have survived a rehash.
    if (--node.second.users == 0) entries_.erase(node.first);
  }

  std::mutex mutex_;
  Map entries_;  // protected by mutex_
};

// A mutex around a map of leases.
class MapLeases {
 public:
  static constexpr std::string_view kName = "map";

  bool try_lock(const std::string& key, const std::string& owner, std::chrono::seconds ttl) {
    const auto now = Lease::Clock::now();
    const std::scoped_lock lock(mutex_);
    const auto [node, is_new] = leases_.try_emplace(key, now + ttl, owner);
    if (is_new) return true;
    if (node->second.expiry > now) return false;
    node->second = {.expiry = now + ttl, .owner = owner};
    return true;
  }

  bool unlock(const std::string& key, const std::string& owner) {
    const std::scoped_lock lock(mutex_);
    const auto node = leases_.find(key);
    if (node == leases_.end() || node->second.owner != owner) return false;
    leases_.erase(node);
    return true;
  }

  std::size_t sweep_in(std::chrono::seconds later) {
    const auto now = Lease::Clock::now() + later;
    const std::scoped_lock lock(mutex_);
    return std::erase_if(leases_, [now](const auto& node) { return node.second.expiry <= now; });
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, Lease> leases_;  // protected by mutex_
};

}  // namespace holdfast::bench
