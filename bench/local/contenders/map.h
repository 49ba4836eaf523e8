#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "bench/local/contenders/lease.h"

namespace holdfast::bench {

// The lock by key that most programs write: a mutex around a map of pointers to reference-counted
// reader-writer locks, the entry created on demand and erased by its last user.
class MapKeyLock {
 public:
  static constexpr std::string_view kName = "map";

 private:
  struct Entry {
    std::shared_mutex mutex;
    std::size_t users = 0;  // protected by the map's mutex
  };

  class Use {
   public:
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   protected:
    Use(MapKeyLock& owner, const std::string& key)
        : owner_(owner), key_(key), entry_(owner.enter(key)) {}
    ~Use() { owner_.leave(key_, entry_); }
    std::shared_mutex& mutex() { return entry_.mutex; }

   private:
    MapKeyLock& owner_;
    const std::string& key_;
    Entry& entry_;
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
  Entry& enter(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<Entry>& entry = entries_[key];
    if (entry == nullptr) entry = std::make_unique<Entry>();
    ++entry->users;
    return *entry;
  }
  void leave(const std::string& key, Entry& entry) {
    const std::scoped_lock lock(mutex_);
    if (--entry.users == 0) entries_.erase(key);
  }

  std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<Entry>> entries_;  // protected by mutex_
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
