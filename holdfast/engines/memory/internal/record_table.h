#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/store/record.h>

namespace holdfast::engines::memory::internal {

// Records by name: a flat table of hashes and pointers, with linear probing. Not thread-safe.
//
// Unlike a std::unordered_map it can `prefetch` the slots of later lookups, so that the
// cache misses of many lookups overlap, and it can be visited slot by slot over a long
// time.
class RecordTable {
 public:
  struct Entry {
    std::string name;
    store::Record record;
  };

  [[nodiscard]] static std::uint64_t hash_of(std::string_view name) noexcept;

  // Returns null if there is none. `hash` is that of the name.
  [[nodiscard]] Entry* find(std::string_view name, std::uint64_t hash) noexcept;
  // Returns the entry of the name, a new one if need be.
  [[nodiscard]] Entry& find_or_add(std::string_view name, std::uint64_t hash);
  // Removes an entry of this table. The others stay in their slots.
  void erase(const Entry& entry) noexcept;

  // Fetch the slot of a hash into the cache, and then what is in it, for a find() that comes soon.
  void prefetch(std::uint64_t hash) const noexcept;
  void prefetch_entry(std::uint64_t hash) const noexcept;
  // Fetches what is in a slot; any number will do.
  void prefetch_slot(std::size_t slot) const noexcept {
    if (slot < slots_.size()) {
      prefetch(slots_[slot].entry.get());
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // Returns the entry in a slot, from 0 to slots() - 1, or null.
  [[nodiscard]] Entry* at(std::size_t slot) noexcept { return slots_[slot].entry.get(); }
  [[nodiscard]] std::size_t slots() const noexcept { return slots_.size(); }
  // Changes when entries have moved to other slots.
  [[nodiscard]] std::uint64_t moves() const noexcept { return moves_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::unique_ptr<Entry> entry;
    bool was_used = false;  // a search goes on behind it, also after its entry was erased
  };

  static void prefetch(const Entry* entry) noexcept {
    __builtin_prefetch(entry);
    __builtin_prefetch(entry != nullptr ? &entry->record.leases : nullptr);
  }
  [[nodiscard]] std::size_t next(std::size_t slot) const noexcept {
    return (slot + 1) & (slots_.size() - 1);
  }
  [[nodiscard]] std::size_t home_of(std::uint64_t hash) const noexcept {
    return static_cast<std::size_t>(hash) & (slots_.size() - 1);
  }
  // Moves all entries to a table with twice the room that they need.
  void rebuild();

  std::vector<Slot> slots_;  // none, or a power of two
  std::size_t size_ = 0;
  std::size_t used_ = 0;  // slots with was_used
  std::uint64_t moves_ = 0;
};

}  // namespace holdfast::engines::memory::internal
