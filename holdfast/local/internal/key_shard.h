#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

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

// One cache line for the keys whose hashes lead here: their latch, and room for one entry. A key
// that finds the room free needs no other memory. `lock` protects the entries of all these keys.
struct alignas(64) KeyCell {
  ShardLock lock;
  std::uint32_t others = 0;       // how many of its keys are in the shard's table
  std::uint32_t read_hash = 0;    // the key that is read most, by majority vote,
  std::uint16_t read_streak = 0;  // and its lead
  bool may_be_biased = false;     // one of its keys may be the biased key of the shard
  std::uint64_t acquisitions = 0;
  KeyEntry resident{};  // in use unless its state is 0

  // Returns whether it has no key, neither here nor in the shard's table.
  [[nodiscard]] bool is_empty() const noexcept { return resident.state == 0 && others == 0; }
  [[nodiscard]] KeyEntry* find_resident(const KeyProbe& probe) noexcept {
    return resident.state != 0 && resident.is_for(probe) ? &resident : nullptr;
  }

  // Returns true when a key was read this often without a write, and should be biased. So a writer
  // searches the readers' slots at most once in that many operations.
  static constexpr std::uint16_t kReadsToBias = 256;
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
};

static_assert(sizeof(KeyCell) == 64);

// One shard of a KeyTable: its first cell, and the memory, the queue and the bias that its cells
// share. While the first cell is the only one, its lock protects all of that; `rest_lock` does once
// the shard is wide. A cell is locked before `rest_lock`; `bias` is read without a lock.
//
// A shard becomes wide, once and for ever, when several threads use it for different keys: a cell
// moves between the caches of their processors then. Each of many cells has fewer keys, and more
// often stays in the cache of the one thread that uses them.
//
// All wide shards of a table together have at most `kMostCells` cells, whatever the number of
// shards, so that its memory and the cost of its statistics have a limit.
struct KeyShard {
  static constexpr unsigned kMostCellBits = 16;
  static constexpr std::size_t kMostCells = std::size_t{1} << kMostCellBits;  // 4 MiB

  KeyCell first_cell;

  alignas(64) ReaderBias bias;

  ShardLock rest_lock;
  ChainTable<KeyEntry> entries;  // without the residents
  EntryCache<KeyEntry> cache;
  EntryPool<KeyEntry> pool{nullptr, 0, cache};
  WaitList waiters;
  std::uint64_t bias_tag = 0;  // the tag of `bias`
  std::uint64_t bias_generation = 0;
  const KeyCell* biased_cell = nullptr;  // the cell of the biased key
  // The last sampled user of the shard and its key, and how often that changes.
  std::uint32_t sampled_thread = 0;
  std::uint32_t sampled_hash = 0;
  int sharing = 0;

  WaitCounters waits;

  // Returns true when the shard should become wide. A sample of another thread with another key
  // speaks for it, every other sample against it: a single hot key would gain nothing.
  static constexpr std::uint64_t kSampleEvery = 64;
  bool sample(std::uint32_t thread, std::uint32_t hash) noexcept;
  // Moves all keys from the first cell to the cells that `cell_of(hash)` returns.
  template <class CellOf>
  void move_to(KeyCell* cells, CellOf&& cell_of) noexcept {
    cells->acquisitions = first_cell.acquisitions;
    if (first_cell.resident.state != 0) {
      Trash trash;
      entries.insert(&first_cell.resident, trash, Resize::forbidden);
    }
    for (std::uint32_t bucket = 0; bucket < entries.bucket_count(); ++bucket) {
      for (const KeyEntry* entry = entries.chain_at(bucket); entry != nullptr;
           entry = entry->next) {
        ++cell_of(entry->hash).others;
      }
    }
  }

  // Returns the key's entry, or null. Call it with the rest locked.
  [[nodiscard]] KeyEntry* find(KeyCell& cell, const KeyProbe& probe) const noexcept {
    KeyEntry* entry = cell.find_resident(probe);
    if (entry == nullptr && cell.others != 0) {
      entry = entries.chain(probe.tag());
      while (entry != nullptr && !entry->is_for(probe)) {
        entry = entry->next;
      }
    }
    return entry;
  }

  // Adds a new entry without a holder, in the cell if its room is free. Throws std::bad_alloc with
  // nothing changed. Call it with the rest locked.
  KeyEntry* add(KeyCell& cell, const KeyProbe& probe, Trash& trash);
  // Copies the key, and returns the word that an entry stores: its bytes, or the address of the
  // copy. Throws std::bad_alloc.
  [[gnu::always_inline]] static std::uint64_t first_word(const KeyProbe& probe) {
    return probe.is_short() ? probe.lo : copy_long_key(probe.text);
  }
  [[gnu::always_inline]] static void fill(KeyEntry& entry, const KeyProbe& probe,
                                          std::uint64_t first_word) noexcept {
    entry.hash = probe.tag();
    entry.state = 0;
    entry.lo = first_word;
    entry.hi = probe.hi;
  }

  // Removes the entry, or makes sure that its first waiter is served. Call it whenever a holder or
  // a waiter has left the entry, with the cell locked.
  [[gnu::always_inline]] inline void settle(KeyCell& cell, KeyEntry* entry,
                                            Afterwards& afterwards) noexcept {
    if (entry->state != 0) [[unlikely]] {
      if (entry->is_queued()) {
        serve_first(cell, entry, afterwards.wakes);
      }
      return;
    }
    if (entry->has_long_key()) [[unlikely]] {
      afterwards.trash.add(entry->long_key());
    }
    if (entry != &cell.resident) [[unlikely]] {
      remove_from_table(cell, entry, afterwards.trash);
    }
  }

  // Wakes the first waiter, which has to be quick: until it runs, newcomers may take the key, so
  // that a busy key is not idle while a thread wakes up. If the waiter comes too late, or has
  // waited longer than `kPatience`, the release passes the key directly to it. The clock is read
  // at every `kPassesPerLook`-th release, and at fewer for the first ones, which may be slow.
  static constexpr std::chrono::milliseconds kPatience{2};
  static constexpr std::uint32_t kPassesPerLook = 64;
  void serve_first(KeyCell& cell, KeyEntry* entry, Wakes& wakes) noexcept;

  // Adds the waiter to the queue; an urgent reader that is now first may join other readers at
  // once.
  void add_waiter(KeyCell& cell, KeyEntry* entry, Waiter& waiter, Wakes& wakes) noexcept;
  // Answers a retry: the waiter gets the key, or is marked for a hand-over next time.
  void answer_retry(KeyCell& cell, KeyEntry* entry, Waiter& waiter, Wakes& wakes) noexcept;
  // Leaves the queue; returns false if the key was granted to the waiter first.
  bool give_up(KeyCell& cell, KeyEntry* entry, Waiter& waiter, Afterwards& afterwards) noexcept;
  // Turns the writer into a reader; readers at the front of the queue enter with it.
  void downgrade(KeyCell& cell, KeyEntry* entry, Wakes& wakes) noexcept;

 private:
  static std::uint64_t copy_long_key(std::string_view key);
  void remove_from_table(KeyCell& cell, KeyEntry* entry, Trash& trash) noexcept;
  // These are called with the rest locked.
  static bool is_late(Waiter& first) noexcept;
  void serve(KeyCell& cell, KeyEntry* entry, Wakes& wakes) noexcept;
  // Lets the waiter hold the key; readers directly behind a reader enter with it.
  void hand_over(KeyCell& cell, KeyEntry* entry, Waiter& first, Wakes& wakes) noexcept;
};

// Holds the lock of a cell.
class CellGuard {
 public:
  explicit CellGuard(KeyCell& locked) noexcept : cell_(&locked) {}
  ~CellGuard() {
    if (cell_ != nullptr) {
      cell_->lock.unlock();
    }
  }
  CellGuard(const CellGuard&) = delete;
  CellGuard& operator=(const CellGuard&) = delete;

  [[nodiscard]] KeyCell& cell() const noexcept { return *cell_; }
  // Ends the use of the cell, for ever.
  void close() noexcept { std::exchange(cell_, nullptr)->lock.close(); }

 private:
  KeyCell* cell_;
};

// Locks what the cells of a shard share, for the holder of a cell's lock.
class RestGuard {
 public:
  RestGuard(KeyShard& shard, const KeyCell& cell) noexcept
      : lock_(&cell == &shard.first_cell ? nullptr : &shard.rest_lock) {
    if (lock_ != nullptr) {
      lock_->lock();
    }
  }
  ~RestGuard() {
    if (lock_ != nullptr) {
      lock_->unlock();
    }
  }
  RestGuard(const RestGuard&) = delete;
  RestGuard& operator=(const RestGuard&) = delete;

 private:
  ShardLock* const lock_;
};

}  // namespace holdfast::local::internal
