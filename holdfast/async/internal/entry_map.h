#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include <holdfast/async/internal/key_entry.h>

namespace holdfast::async::internal {

// The entries of one shard by key, and some spare ones, so that a new key costs no allocation after
// another was erased. The memory it keeps when empty is bounded, whatever it has held.
//
// Not thread-safe. Entries stay where they are until they are erased.
class EntryMap {
 public:
  EntryMap() = default;
  ~EntryMap();
  EntryMap(const EntryMap&) = delete;
  EntryMap& operator=(const EntryMap&) = delete;

  [[nodiscard]] KeyEntry* find(std::string_view key, std::size_t hash) const;
  // Inserts a key that is not in the map. Throws std::bad_alloc with nothing changed.
  KeyEntry& insert(std::string_view key, std::size_t hash);
  // Erases an entry that is free and has no waiter.
  void erase(KeyEntry& entry) noexcept;

  [[nodiscard]] std::size_t size() const { return size_; }

  template <class Visitor>
  void for_each(const Visitor& visit) const {
    for (KeyEntry* entry : buckets()) {
      for (; entry != nullptr; entry = entry->next) visit(*entry);
    }
  }

 private:
  static constexpr std::size_t kFewBuckets = 16;
  static constexpr std::size_t kMostSpare = 64;
  // A spare entry keeps the memory of its key up to this length.
  static constexpr std::size_t kMostSpareBytes = 256;

  [[nodiscard]] std::span<KeyEntry* const> buckets() const;
  [[nodiscard]] KeyEntry*& bucket(std::size_t hash);
  std::unique_ptr<KeyEntry> make_entry(std::string_view key);
  void grow();

  std::array<KeyEntry*, kFewBuckets> few_buckets_{};
  std::unique_ptr<KeyEntry*[]> many_buckets_;  // instead of the few, while there are many entries
  std::size_t bucket_count_ = kFewBuckets;     // a power of two
  std::size_t size_ = 0;
  KeyEntry* spare_ = nullptr;
  std::size_t spare_count_ = 0;
};

}  // namespace holdfast::async::internal
