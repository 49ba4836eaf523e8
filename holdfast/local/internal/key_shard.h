#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string_view>

#include <holdfast/local/internal/chain_table.h>
#include <holdfast/local/internal/entry_pool.h>
#include <holdfast/local/internal/key_probe.h>
#include <holdfast/local/internal/reader_bias.h>
#include <holdfast/local/internal/shard_lock.h>
#include <holdfast/local/internal/trash.h>
#include <holdfast/local/internal/wait_counters.h>
#include <holdfast/local/internal/waiter.h>

namespace holdfast::local::internal {

// The lock of one key, which exists while the key is held or waited for. Two fit in a cache line.
struct alignas(32) KeyEntry {
  KeyEntry* next;
  std::uint32_t hash;
  std::uint32_t state;  // see the table below
  std::uint64_t lo;     // the key as in KeyProbe; of a long key, the address of its bytes
  std::uint64_t hi;

  // state         holders        waiters
  // n             n readers      none
  // kExclusive    one writer     none
  // … | kQueued   the same       some
  // kQueued       none yet       the first one has been notified
  // 0             none           none: the entry is being made or removed
  static constexpr std::uint32_t kExclusive = 1U << 31U;
  static constexpr std::uint32_t kQueued = 1U << 30U;
  static constexpr std::uint32_t kReaders = kQueued - 1;

  [[nodiscard]] std::uint32_t readers() const noexcept { return state & kReaders; }
  [[nodiscard]] bool is_exclusive() const noexcept { return (state & kExclusive) != 0; }
  [[nodiscard]] bool is_queued() const noexcept { return (state & kQueued) != 0; }
  [[nodiscard]] bool is_free() const noexcept { return (state & ~kQueued) == 0; }

  // Returns whether a newcomer may hold the key now. A reader does not join other readers past a
  // waiter: the waiter may be a writer, which would wait for ever behind a stream of readers.
  [[nodiscard]] bool admits(Mode mode) const noexcept {
    return is_free() || (mode == Mode::shared && !is_exclusive() && !is_queued());
  }
  // Returns whether the first waiter may hold the key now.
  [[nodiscard]] bool admits_first(Mode mode) const noexcept {
    return is_free() || (mode == Mode::shared && !is_exclusive());
  }
  void hold(Mode mode) noexcept {
    state = mode == Mode::exclusive ? state | kExclusive : state + 1;
  }
  void unhold(Mode mode) noexcept {
    state = mode == Mode::exclusive ? state & ~kExclusive : state - 1;
  }

  // Turns the only reader into the writer.
  bool try_upgrade() noexcept {
    if (readers() != 1) {
      return false;
    }
    unhold(Mode::shared);
    hold(Mode::exclusive);
    return true;
  }

  [[nodiscard]] bool is_for(const KeyProbe& probe) const noexcept {
    return hash == probe.tag() && hi == probe.hi &&
           (probe.is_short() ? lo == probe.lo
                             : std::memcmp(long_key(), probe.text.data(), probe.text.size()) == 0);
  }
  [[nodiscard]] bool has_long_key() const noexcept { return hi >= kLongKey; }
  [[nodiscard]] char* long_key() const noexcept { return reinterpret_cast<char*>(lo); }
  [[nodiscard]] std::string_view key() const noexcept {
    return has_long_key() ? std::string_view(long_key(), hi & ~kLongKey)
                          : std::string_view(reinterpret_cast<const char*>(&lo), hi >> 56U);
  }
};

static_assert(sizeof(KeyEntry) == 32);

// Work to do after the shard is unlocked. Declare it before the shard's guard.
struct Afterwards {
  Trash trash;
  Wakes wakes;
};

// One shard of a KeyTable. `lock` protects everything except `bias`.
struct alignas(64) KeyShard {
  // One cache line; an uncontended lock touches only this line and an entry on the next one.
  ShardLock lock;
  ChainTable<KeyEntry> entries;
  EntryCache<KeyEntry> cache;
  std::uint64_t acquisitions = 0;

  alignas(64) KeyEntry resident[1];
  WaitList waiters;
  std::uint64_t bias_tag = 0;     // the tag of `bias`
  std::uint32_t read_hash = 0;    // the key that is read most, by majority vote,
  std::uint32_t read_streak = 0;  // and its lead

  alignas(64) ReaderBias bias;
  EntryPool<KeyEntry> pool{resident, 1, cache};
  WaitCounters waits;
  std::uint64_t bias_generation = 0;

  [[nodiscard]] KeyEntry* find(const KeyProbe& probe) const noexcept {
    return find(entries.chain(probe.tag()), probe);
  }
  [[nodiscard]] static KeyEntry* find(KeyEntry* entry, const KeyProbe& probe) noexcept {
    while (entry != nullptr && !entry->is_for(probe)) {
      entry = entry->next;
    }
    return entry;
  }

  // Adds a new entry without a holder to its chain. Throws std::bad_alloc with nothing changed.
  [[gnu::always_inline]] inline KeyEntry* add(KeyEntry*& chain, const KeyProbe& probe,
                                              Trash& trash) {
    if (cache.head == nullptr) [[unlikely]] {
      pool.refill(cache);
    }
    const std::uint64_t lo = probe.is_short() ? probe.lo : copy_long_key(probe.text);
    KeyEntry* const entry = cache.pop();
    entry->hash = probe.tag();
    entry->state = 0;
    entry->lo = lo;
    entry->hi = probe.hi;
    entries.insert(chain, entry, trash);
    return entry;
  }

  [[gnu::always_inline]] inline void remove(KeyEntry* entry, Trash& trash) noexcept {
    if (entry->has_long_key()) [[unlikely]] {
      trash.add(entry->long_key());
    }
    entries.remove(entry, trash);
    cache.push(entry);
    if (cache.has_spare_slabs != 0) [[unlikely]] {
      pool.trim(cache, entries.size(), trash);
    }
  }

  // Copies the key and returns the address of the copy. Throws std::bad_alloc.
  static std::uint64_t copy_long_key(std::string_view key);

  // Returns true when a key was read this often without a write, and should be biased. So a writer
  // searches the readers' slots at most once in that many operations.
  static constexpr std::uint32_t kReadsToBias = 256;
  bool note_read(std::uint32_t hash) noexcept {
    if (read_hash == hash) {
      if (++read_streak < kReadsToBias) {
        return false;
      }
      read_streak = 0;
      return true;
    }
    if (read_streak > 0) {
      --read_streak;
    } else {
      read_hash = hash;
    }
    return false;
  }
  void note_write(std::uint32_t hash) noexcept {
    if (read_hash == hash) {
      read_streak = 0;
    }
  }

  // Adds the waiter to the queue; an urgent reader that is now first may join other readers at
  // once.
  void add_waiter(KeyEntry* entry, Waiter& waiter, Wakes& wakes) noexcept;

  // Removes the entry, or makes sure that its first waiter is served. Call it whenever a holder or
  // a waiter has left the entry.
  [[gnu::always_inline]] inline void settle(KeyEntry* entry, Afterwards& afterwards) noexcept {
    if (entry->state == 0) [[likely]] {
      remove(entry, afterwards.trash);
    } else if (entry->is_queued()) [[unlikely]] {
      serve_first(entry, afterwards.wakes);
    }
  }

  // Wakes the first waiter, which has to be quick: until it runs, newcomers may take the key, so
  // that a busy key is not idle while a thread wakes up. If the waiter comes too late, or gets no
  // processor until `most_passes` newcomers have held the key, the next release passes the key
  // directly to it.
  //
  // Fewer passes would cost a busy key more than a tenth of its throughput. In a long queue they
  // add up for the last waiter, so that there each waiter is passed by fewer newcomers.
  static constexpr std::uint32_t kMostPasses = 2048;
  static constexpr std::uint32_t kShortQueue = 8;
  static constexpr std::uint32_t most_passes(std::uint32_t waiters) noexcept {
    return std::max(kMostPasses * kShortQueue / std::max(waiters, kShortQueue), 1U);
  }
  void serve_first(KeyEntry* entry, Wakes& wakes) noexcept;
  // Lets the waiter hold the key; readers directly behind a reader enter with it.
  void hand_over(KeyEntry* entry, Waiter& first, Wakes& wakes) noexcept;

  // These two are for the waiter's own thread, and lock the shard.
  // Answers a retry: the waiter gets the key, or is marked for a hand-over next time.
  void answer_retry(KeyEntry* entry, Waiter& waiter) noexcept;
  // Leaves the queue; returns false if the key was granted to the waiter first.
  bool give_up(KeyEntry* entry, Waiter& waiter) noexcept;
};

}  // namespace holdfast::local::internal
