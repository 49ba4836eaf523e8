#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include <libcuckoo/cuckoohash_map.hh>

#include "bench/local/contenders/lease.h"

namespace holdfast::bench {

// libcuckoo has no lock that lasts longer than a call, so there is only a table of leases.
class CuckooLeases {
 public:
  static constexpr std::string_view kName = "libcuckoo";

  bool try_lock(const std::string& key, const std::string& owner, std::chrono::seconds ttl) {
    const auto now = Lease::Clock::now();
    bool granted = true;
    leases_.upsert(
        key,
        [&](Lease& lease) {
          granted = lease.expiry <= now;
          if (granted) lease = {.expiry = now + ttl, .owner = owner};
        },
        now + ttl, owner);
    return granted;
  }

  bool unlock(const std::string& key, const std::string& owner) {
    bool is_owner = false;
    leases_.erase_fn(key, [&](const Lease& lease) { return is_owner = lease.owner == owner; });
    return is_owner;
  }

  // Holds every lock of the table for the whole sweep: its only way to visit all entries.
  std::size_t sweep_in(std::chrono::seconds later) {
    const auto now = Lease::Clock::now() + later;
    std::size_t removed = 0;
    auto table = leases_.lock_table();
    for (auto node = table.begin(); node != table.end();) {
      if (node->second.expiry <= now) {
        node = table.erase(node);
        ++removed;
      } else {
        ++node;
      }
    }
    return removed;
  }

 private:
  libcuckoo::cuckoohash_map<std::string, Lease> leases_;
};

}  // namespace holdfast::bench
