#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <oneapi/tbb/concurrent_hash_map.h>
#include <oneapi/tbb/tbb_allocator.h>

#include "bench/local/contenders/lease.h"

namespace holdfast::bench {

template <class Value, template <class> class Allocator>
using TbbMap = tbb::concurrent_hash_map<std::string, Value, tbb::tbb_hash_compare<std::string>,
                                        Allocator<std::pair<const std::string, Value>>>;

// oneTBB locks an element for as long as an accessor refers to it, which makes its map a map of
// reader-writer locks. Like Holdfast's, this one leaves nothing behind.
//
// A writer inserts, and erases through its accessor. A reader must not: erasing removes the element
// from the map at once, while other readers still hold it, and a writer could then insert a second
// one. So readers are counted, and the last to leave locks again as a writer to erase.
// (Without that, readers would be faster, and every key ever read would stay.)
template <template <class> class Allocator = tbb::tbb_allocator>
class TbbKeyLock {
 public:
  static constexpr std::string_view kName = "tbb";

 private:
  struct Entry {
    mutable std::atomic<std::size_t> readers{0};
  };
  using Map = TbbMap<Entry, Allocator>;

  class Exclusive {
   public:
    Exclusive(Map& map, const std::string& key) : map_(map) { map_.insert(accessor_, key); }
    ~Exclusive() { map_.erase(accessor_); }
    Exclusive(const Exclusive&) = delete;
    Exclusive& operator=(const Exclusive&) = delete;

   private:
    Map& map_;
    typename Map::accessor accessor_;
  };

  // Refers to the caller's key, which outlives the guard.
  class Shared {
   public:
    Shared(Map& map, const std::string& key) : map_(map), key_(key) {
      map_.insert(accessor_, key);
      accessor_->second.readers.fetch_add(1, std::memory_order_relaxed);
    }
    ~Shared() {
      const bool last = accessor_->second.readers.fetch_sub(1, std::memory_order_relaxed) == 1;
      accessor_.release();
      typename Map::accessor writer;
      if (last && map_.find(writer, key_)) map_.erase(writer);
    }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

   private:
    Map& map_;
    const std::string& key_;
    typename Map::const_accessor accessor_;
  };

 public:
  Exclusive lock(const std::string& key) { return {map_, key}; }
  Shared lock_shared(const std::string& key) { return {map_, key}; }

 private:
  Map map_;
};

template <template <class> class Allocator = tbb::tbb_allocator>
class TbbLeases {
 public:
  static constexpr std::string_view kName = "tbb";

  bool try_lock(const std::string& key, const std::string& owner, std::chrono::seconds ttl) {
    const auto now = Lease::Clock::now();
    typename Map::accessor lease;
    const bool is_new = leases_.insert(lease, key);
    if (!is_new && lease->second.expiry > now) return false;
    lease->second = {.expiry = now + ttl, .owner = owner};
    return true;
  }

  bool unlock(const std::string& key, const std::string& owner) {
    typename Map::accessor lease;
    if (!leases_.find(lease, key) || lease->second.owner != owner) return false;
    leases_.erase(lease);
    return true;
  }

  // Traversal is not safe during inserts, so a program would have to block callers during the first
  // half; that is not counted against it here.
  std::size_t sweep_in(std::chrono::seconds later) {
    const auto now = Lease::Clock::now() + later;
    std::vector<std::string> expired;
    for (const auto& [key, lease] : leases_) {
      if (lease.expiry <= now) expired.push_back(key);
    }
    std::size_t removed = 0;
    for (const std::string& key : expired) {
      typename Map::accessor lease;
      if (leases_.find(lease, key) && lease->second.expiry <= now && leases_.erase(lease)) {
        ++removed;
      }
    }
    return removed;
  }

 private:
  using Map = TbbMap<Lease, Allocator>;

  Map leases_;
};

}  // namespace holdfast::bench
