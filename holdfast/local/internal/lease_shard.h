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

// One shard of a LeaseTable. `lock` protects everything.
struct alignas(64) LeaseShard {
  // One cache line; a call touches only this line and an entry on the next ones.
  ShardLock lock;
  ChainTable<LeaseEntry> entries;
  EntryCache<LeaseEntry> cache;
  std::uint64_t last_token = 0;

  alignas(64) LeaseEntry resident[1];
  std::uint32_t walkers = 0;  // walkers that go through the buckets by number
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

  [[gnu::always_inline]] [[nodiscard]] inline LeaseEntry* find(
      const KeyProbe& probe) const noexcept {
    return find(entries.chain(probe.tag()), probe);
  }
  [[gnu::always_inline]] [[nodiscard]] static inline LeaseEntry* find(
      LeaseEntry* entry, const KeyProbe& probe) noexcept {
    while (entry != nullptr && !entry->is_for(probe)) {
      entry = entry->next;
    }
    return entry;
  }

  // Adds a new entry to its chain. Throws std::bad_alloc with nothing changed.
  [[gnu::always_inline]] inline LeaseEntry* add(LeaseEntry*& chain, const KeyProbe& probe,
                                                std::string_view owner, Trash& trash) {
    if (cache.head == nullptr) [[unlikely]] {
      pool.refill(cache);
    }
    cache.head->set_text(probe.text, owner);
    LeaseEntry* const entry = cache.pop();
    entry->hash = probe.tag();
    entries.insert(chain, entry, trash, resize());
    return entry;
  }

  [[gnu::always_inline]] inline void remove(LeaseEntry* entry, Trash& trash) noexcept {
    entries.remove(entry, trash, resize());
    recycle(entry, trash);
  }

  // Recycles the memory of an entry that has left the table.
  [[gnu::always_inline]] inline void recycle(LeaseEntry* entry, Trash& trash) noexcept {
    entry->drop_text(trash);
    cache.push(entry);
    if (cache.has_spare_slabs != 0) [[unlikely]] {
      pool.trim(cache, entries.size(), trash);
    }
  }

 private:
  [[nodiscard]] Resize resize() const noexcept {
    return walkers == 0 ? Resize::allowed : Resize::forbidden;
  }
};

}  // namespace holdfast::local::internal
