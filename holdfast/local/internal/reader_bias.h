#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

#include <holdfast/local/internal/key_probe.h>

namespace holdfast::local::internal {

// Readers of a key that is read often need not share one counter: each writes to its own thread's
// slot, and a writer collects the slots (after Dice and Kogan's BRAVO).
//
// A key is *biased* towards readers while its shard's `ReaderBias` carries a tag. A reader
//   1. reads the tag and compares the key,
//   2. writes the tag into its slot,
//   3. reads the tag again: if it is the same, the reader holds the key.
// A writer, under the shard's lock, clears the tag and then reads every slot: the slots that carry
// the tag become ordinary readers of the key's entry (`adopt`). Steps 2 and 3 and the writer's two
// steps are sequentially consistent, so either the reader sees the cleared tag or the writer sees
// the slot.
//
// A slot is one word:
//   free       0 | count       how often it was used since the count was last collected
//   held       tag | count     by a reader that no writer has seen
//   adopted    kAdopted | address of the entry that counts the reader
// Only the guard that filled a slot empties it.
using ReaderSlot = std::atomic<std::uint64_t>;

inline constexpr unsigned kSlotCountBits = 24;
inline constexpr std::uint64_t kSlotCountMask = (std::uint64_t{1} << kSlotCountBits) - 1;
inline constexpr std::uint64_t kAdopted = std::uint64_t{1} << 63U;

// The biased key of a shard. All threads read it; it is written under the shard's lock. The words
// are atomics because a reader may compare them while they change: step 3 then makes the reader
// back out.
class alignas(64) ReaderBias {
 public:
  static constexpr std::size_t kMaxKey = 6 * sizeof(std::uint64_t);

  [[nodiscard]] std::uint64_t tag(std::memory_order order) const noexcept {
    return tag_.load(order);
  }

  [[nodiscard]] bool matches(const KeyProbe& probe) const noexcept {
    if (size_.load(std::memory_order_acquire) != probe.text.size()) {
      return false;
    }
    if (probe.is_short()) {
      return words_[0].load(std::memory_order_acquire) == probe.lo &&
             words_[1].load(std::memory_order_acquire) == probe.hi;
    }
    const std::string_view text = probe.text;
    for (std::size_t at = 0; at < text.size(); at += 8) {
      if (words_[at / 8].load(std::memory_order_acquire) != word_at(text, at)) {
        return false;
      }
    }
    return true;
  }

  // The functions below are called under the shard's lock.

  // Stores with release, so that a reader that sees a new word also sees the `clear` before it.
  void set(const KeyProbe& probe, std::uint64_t tag) noexcept {
    const std::string_view text = probe.text;
    size_.store(text.size(), std::memory_order_release);
    if (probe.is_short()) {
      words_[0].store(probe.lo, std::memory_order_release);
      words_[1].store(probe.hi, std::memory_order_release);
    } else {
      for (std::size_t at = 0; at < text.size(); at += 8) {
        words_[at / 8].store(word_at(text, at), std::memory_order_release);
      }
    }
    restore(tag);
  }
  void clear() noexcept { tag_.store(0, std::memory_order_seq_cst); }
  // Undoes a `clear`, if nothing changed in between.
  void restore(std::uint64_t tag) noexcept { tag_.store(tag, std::memory_order_seq_cst); }

  [[nodiscard]] std::string key() const {
    std::array<char, kMaxKey> bytes;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t word = words_[i].load(std::memory_order_relaxed);
      std::memcpy(bytes.data() + i * sizeof word, &word, sizeof word);
    }
    return {bytes.data(), size_.load(std::memory_order_relaxed)};
  }

 private:
  // Returns eight bytes of the text, with zeros beyond its end.
  static std::uint64_t word_at(std::string_view text, std::size_t at) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min<std::size_t>(8, text.size() - at));
    return word;
  }

  std::atomic<std::uint64_t> tag_{0};
  std::atomic<std::uint64_t> size_{0};
  std::array<std::atomic<std::uint64_t>, 6> words_{};
};

// The slots of one table: a row, and so a cache line, for each thread. More threads than rows share
// rows; a reader whose slot is in use is counted in the entry, like any other reader.
class ReaderSlots {
 public:
  static constexpr std::size_t kRows = 64;
  static constexpr std::size_t kSlotsPerRow = 8;

  [[nodiscard]] ReaderSlot& mine(std::size_t shard) noexcept {
    return rows_[thread_row() % kRows].slots[shard % kSlotsPerRow];
  }

  // Calls `visit(slot)` for every slot that readers of this shard's keys use.
  template <class Visit>
  void for_each(std::size_t shard, Visit&& visit) {
    for (Row& row : rows_) {
      visit(row.slots[shard % kSlotsPerRow]);
    }
  }

  // Returns the calling thread's row, for as long as the thread lives.
  static std::uint32_t thread_row() noexcept {
    static std::atomic<std::uint32_t> next{0};
    thread_local constinit std::uint32_t row_plus_one = 0;
    if (row_plus_one == 0) [[unlikely]] {
      row_plus_one = next.fetch_add(1, std::memory_order_relaxed) % kRows + 1;
    }
    return row_plus_one - 1;
  }

 private:
  struct alignas(64) Row {
    std::array<ReaderSlot, kSlotsPerRow> slots{};
  };

  std::array<Row, kRows> rows_{};
};

}  // namespace holdfast::local::internal
