#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <holdfast/local/internal/trash.h>

namespace holdfast::local::internal {

// Says if a change may also change the number of buckets. It must not while a walker goes through
// the buckets by number.
enum class Resize : std::uint8_t { allowed, forbidden };

// A hash table of intrusive chains that grows and shrinks one bucket at a time (linear hashing),
// so that no single operation pays for all the others. `Entry` has `Entry* next` and
// `std::uint32_t hash`; the table neither creates nor destroys entries. Not thread-safe.
//
// The first s of 2^k + s buckets have been split already: an entry is in bucket `hash mod 2^k`, or,
// if that bucket was split, in `hash mod 2^(k+1)`. The first bucket is inside the object.
//
// It also works without memory: a table that cannot grow has longer chains.
template <class Entry>
class ChainTable {
 public:
  ChainTable() = default;
  ChainTable(const ChainTable&) = delete;
  ChainTable& operator=(const ChainTable&) = delete;
  ~ChainTable() {
    if (buckets_ != inline_) {
      std::free(buckets_ - kHeader);
    }
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t bucket_count() const noexcept { return mask_ + 1 + split_; }

  // Returns the chain for entries with this hash; valid until the next change.
  [[nodiscard]] Entry*& chain(std::uint32_t hash) const noexcept {
    return buckets_[index_of(hash)];
  }
  [[nodiscard]] Entry* chain_at(std::uint32_t bucket) const noexcept { return buckets_[bucket]; }

  void insert(Entry* entry, Trash& trash, Resize resize = Resize::allowed) noexcept {
    insert(chain(entry->hash), entry, trash, resize);
  }
  // Inserts an entry into its chain, which the caller has looked up already.
  [[gnu::always_inline]] inline void insert(Entry*& chain, Entry* entry, Trash& trash,
                                            Resize resize = Resize::allowed) noexcept {
    entry->next = chain;
    chain = entry;
    ++size_;
    if (resize == Resize::allowed && is_crowded()) [[unlikely]] {
      grow(trash);
    }
  }

  // Removes `entry`, which is in the table.
  [[gnu::always_inline]] inline void remove(Entry* entry, Trash& trash,
                                            Resize resize = Resize::allowed) noexcept {
    Entry** link = &chain(entry->hash);
    while (*link != entry) {
      link = &(*link)->next;
    }
    *link = entry->next;
    --size_;
    if (mask_ != 0 && resize == Resize::allowed) [[unlikely]] {
      shrink(trash);
    }
  }

  // Unlinks every entry of the bucket for which `is_gone(entry)` and passes it to `dispose`. Never
  // resizes; call `settle` afterwards.
  template <class IsGone, class Dispose>
  void remove_if_at(std::uint32_t bucket, IsGone&& is_gone, Dispose&& dispose) {
    Entry** link = &buckets_[bucket];
    while (Entry* const entry = *link) {
      if (is_gone(*entry)) {
        *link = entry->next;
        --size_;
        dispose(entry);
      } else {
        link = &entry->next;
      }
    }
  }

  // Does one bounded step towards the right number of buckets; returns true when nothing is left to
  // do.
  bool settle(Trash& trash) noexcept {
    constexpr int kSteps = 64;
    for (int i = 0; i < kSteps; ++i) {
      if (is_crowded()) {
        if (!split_next(trash)) {
          return true;
        }
      } else if (can_shrink()) {
        merge_last(trash);
      } else {
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::uint32_t kInlineBuckets = 1;
  // A few entries stay in the inline bucket: its cache line is loaded already.
  static constexpr std::uint32_t kInlineEntries = 4;
  static constexpr std::uint32_t kFirstArray = 8;
  // An array's capacity is stored in front of its first bucket, so that the object itself stays
  // within the half of a cache line that it shares with the shard's lock.
  static constexpr std::uint32_t kHeader = 1;

  [[nodiscard]] std::uint32_t index_of(std::uint32_t hash) const noexcept {
    const std::uint32_t index = hash & mask_;
    return index >= split_ ? index : hash & (2 * mask_ + 1);
  }

  [[gnu::noinline]] void grow(Trash& trash) noexcept {
    // Two steps for one insert catch up with the entries that the inline bucket took.
    for (int i = 0; i < 2 && is_crowded(); ++i) {
      if (!split_next(trash)) {
        return;
      }
    }
  }

  [[gnu::noinline]] void shrink(Trash& trash) noexcept {
    for (int i = 0; i < 2 && can_shrink(); ++i) {
      merge_last(trash);
    }
  }

  // The number of buckets is right while neither of these two is true.
  [[nodiscard]] bool is_crowded() const noexcept {
    const std::uint32_t buckets = bucket_count();
    return size_ > std::max(buckets + buckets / 4, kInlineEntries);
  }
  [[nodiscard]] bool can_shrink() const noexcept {
    return bucket_count() > kInlineBuckets && size_ < bucket_count() / 2;
  }

  bool split_next(Trash& trash) noexcept {
    const std::uint32_t added = bucket_count();
    if (added == capacity() && !move_to(with_room(added), trash)) {
      return false;
    }
    const std::uint32_t deciding_bit = mask_ + 1;
    Entry** link = &buckets_[split_];
    Entry* moved = nullptr;
    while (Entry* const entry = *link) {
      if ((entry->hash & deciding_bit) != 0) {
        *link = entry->next;
        entry->next = moved;
        moved = entry;
      } else {
        link = &entry->next;
      }
    }
    buckets_[added] = moved;
    if (++split_ == deciding_bit) {
      mask_ = 2 * mask_ + 1;
      split_ = 0;
    }
    return true;
  }

  void merge_last(Trash& trash) noexcept {
    if (split_ == 0) {
      mask_ /= 2;
      split_ = mask_ + 1;
    }
    --split_;
    const std::uint32_t gone = bucket_count();
    Entry** link = &buckets_[split_];
    while (*link != nullptr) {
      link = &(*link)->next;
    }
    *link = buckets_[gone];
    // Shrinks late, so that alternating growth and shrinkage does not copy each time.
    if (gone == kInlineBuckets) {
      move_to(kInlineBuckets, trash);
    } else if (gone <= capacity() / 2 && capacity() > kFirstArray) {
      move_to(with_room(gone), trash);
    }
  }

  static std::uint32_t with_room(std::uint32_t buckets) noexcept {
    return std::max(buckets + buckets / 4, kFirstArray);
  }
  [[nodiscard]] std::uint32_t capacity() const noexcept {
    return buckets_ == inline_
               ? kInlineBuckets
               : static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(buckets_[-1]));
  }

  // Moves the buckets to an array of this capacity; returns false, with nothing changed, if there
  // is no memory.
  bool move_to(std::uint32_t capacity, Trash& trash) noexcept {
    Entry** target = inline_;
    if (capacity != kInlineBuckets) {
      void* const block = std::malloc((capacity + kHeader) * sizeof(Entry*));
      if (block == nullptr) {
        return false;
      }
      target = static_cast<Entry**>(block) + kHeader;
      target[-1] = reinterpret_cast<Entry*>(static_cast<std::uintptr_t>(capacity));
    }
    std::memcpy(target, buckets_, bucket_count() * sizeof(Entry*));
    if (buckets_ != inline_) {
      trash.add(buckets_ - kHeader);
    }
    buckets_ = target;
    return true;
  }

  Entry** buckets_ = inline_;
  Entry* inline_[kInlineBuckets] = {};
  std::uint32_t mask_ = 0;
  std::uint32_t split_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace holdfast::local::internal
