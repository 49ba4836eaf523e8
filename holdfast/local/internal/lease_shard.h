#pragma once

#include <cstdint>

#include <holdfast/local/internal/chain_table.h>
#include <holdfast/local/internal/entry_pool.h>
#include <holdfast/local/internal/key_probe.h>
#include <holdfast/local/internal/lease_entry.h>
#include <holdfast/local/internal/shard_lock.h>
#include <holdfast/local/internal/sharding.h>
#include <holdfast/local/internal/trash.h>

namespace holdfast::local::internal {

// One part of a LeaseTable. Everything is protected by `lock`.
struct alignas(64) LeaseShard {
  // One cache line, together with an entry on the next ones all that a call touches.
  ShardLock lock;
  ChainTable<LeaseEntry> entries;
  EntryCache<LeaseEntry> cache;
  std::uint64_t last_token = 0;

  alignas(64) LeaseEntry resident[1];
  std::uint32_t walkers = 0;  // who goes through the buckets by number
  EntryPool<LeaseEntry> pool{resident, 1, cache};

  ~LeaseShard() {
    Trash trash;
    for (std::uint32_t bucket = 0; bucket < entries.bucket_count(); ++bucket) {
      for (const LeaseEntry* entry = entries.chain_at(bucket); entry != nullptr;
           entry = entry->next) {
        entry->drop_text(trash);
      }
    }
  }

  [[nodiscard]] LeaseEntry* find(const KeyProbe& probe) const noexcept {
    LeaseEntry* entry = entries.chain(probe.tag());
    while (entry != nullptr && !entry->is_for(probe)) {
      entry = entry->next;
    }
    return entry;
  }

  // Throws std::bad_alloc, and nothing has changed.
  LeaseEntry* add(const KeyProbe& probe, std::string_view owner, Trash& trash) {
    if (cache.head == nullptr) [[unlikely]] {
      pool.refill(cache);
    }
    cache.head->set_text(probe.text, owner);
    LeaseEntry* const entry = cache.pop();
    entry->hash = probe.tag();
    entries.insert(entry, trash, resize());
    return entry;
  }

  void remove(LeaseEntry* entry, Trash& trash) noexcept {
    entries.remove(entry, trash, resize());
    recycle(entry, trash);
  }

  // The memory of an entry that is out of the table.
  void recycle(LeaseEntry* entry, Trash& trash) noexcept {
    entry->drop_text(trash);
    cache.push(entry);
    if (cache.has_spare_slabs != 0 && (entries.size() == 0 || pool.is_full(cache))) [[unlikely]] {
      pool.drain(cache, entries.size() == 0 ? 0 : pool.kPerSlab, trash);
    }
  }

 private:
  [[nodiscard]] Resize resize() const noexcept {
    return walkers == 0 ? Resize::allowed : Resize::forbidden;
  }
};

}  // namespace holdfast::local::internal
