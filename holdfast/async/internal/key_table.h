#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/async/internal/entry_map.h>
#include <holdfast/async/internal/key_waiter.h>
#include <holdfast/base/mutex.h>
#include <holdfast/local/key_stats.h>

namespace holdfast::async::internal {

struct KeyAttempt {
  KeyOutcome outcome;
  KeyEntry* entry;  // if it entered
};

// The keys of one AsyncKeyLock, in shards with a mutex each.
//
// Thread-safe. It knows nothing about executors: a decided waiter is passed to finish(), never
// under a mutex. It outlives its AsyncKeyLock while there is a waiter, a held key, or a reference.
class KeyTable {
 public:
  // Starts with one reference, the maker's.
  explicit KeyTable(std::size_t max_waiters) noexcept : max_waiters_(max_waiters) {}
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  [[nodiscard]] static std::size_t hash(std::string_view key);

  // Enters if the key can be entered without waiting.
  [[nodiscard]] KeyAttempt try_enter(std::string_view key, KeyMode mode) noexcept;
  // Returns whether one more operation may wait. Exact but for operations that begin at the same
  // time in several threads.
  [[nodiscard]] bool has_room() const noexcept {
    return references_.load(std::memory_order_relaxed) <= max_waiters_;
  }
  // Lets the waiter enter, or queues it. A waiter that was cancelled before is finished at once.
  void wait(KeyWaiter& waiter, std::string_view key) noexcept;
  // Ends the wait if it has not ended.
  void cancel(KeyWaiter& waiter, KeyOutcome why) noexcept;
  // Removes the waiter from the queue, if it is there, for the caller to drop. Waiters that may
  // enter instead are added to `decided`; the caller passes them to finish_all().
  [[nodiscard]] bool withdraw(KeyWaiter& waiter, WaiterQueue& decided) noexcept;

  void leave(KeyEntry& entry, KeyMode mode) noexcept;
  void downgrade(KeyEntry& entry) noexcept;

  // Ends all waits, and refuses all callers from now on. Drops the maker's reference.
  void close() noexcept;

  static void finish_all(WaiterQueue& decided) noexcept;

  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() noexcept;

  // Counts an operation that was cancelled before it tried to enter.
  void count_cancelled(std::string_view key) noexcept;

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] local::KeyLockStats stats() const;
  [[nodiscard]] std::vector<local::KeyState> snapshot() const;

 private:
  struct alignas(64) Shard {
    mutable base::Mutex mutex;
    local::KeyLockStats stats HOLDFAST_GUARDED_BY(mutex);
    EntryMap entries HOLDFAST_GUARDED_BY(mutex);
    bool is_closed HOLDFAST_GUARDED_BY(mutex) = false;
  };
  static constexpr std::size_t kShards = 64;

  ~KeyTable() = default;
  [[nodiscard]] Shard& shard_of(std::size_t hash) { return shards_[hash >> kShardShift]; }
  KeyAttempt enter(Shard& shard, std::string_view key, std::size_t hash, KeyMode mode) noexcept
      HOLDFAST_REQUIRES(shard.mutex);
  // Ends a wait without the key.
  static void give_up(Shard& shard, KeyWaiter& waiter, KeyOutcome why) noexcept
      HOLDFAST_REQUIRES(shard.mutex);
  // Lets in the first waiters, and moves them to `decided`.
  static void admit_waiters(Shard& shard, KeyEntry& entry, WaiterQueue& decided) noexcept
      HOLDFAST_REQUIRES(shard.mutex);
  static void finish(KeyWaiter& waiter) noexcept;
  // Erases the entry if it has no holder. Returns whether that removes a reference, which the
  // caller must then drop, after it has unlocked the shard.
  [[nodiscard]] static bool erase_if_free(Shard& shard, KeyEntry& entry) noexcept
      HOLDFAST_REQUIRES(shard.mutex);

  // The upper bits choose the shard, the lower ones the bucket in it.
  static constexpr std::size_t kShardShift = sizeof(std::size_t) * 8 - 6;
  static_assert(kShards == std::size_t{1} << 6);

  const std::size_t max_waiters_;
  std::array<Shard, kShards> shards_;
  // Counts the maker, each waiter and, from close() on, each entry, so that entering and leaving
  // need not count.
  std::atomic<std::size_t> references_{1};
};

// Keeps a table alive for an operation that uses it later.
class KeyTableReference {
 public:
  explicit KeyTableReference(KeyTable& table) noexcept : table_(&table) { table.add_reference(); }
  KeyTableReference(KeyTableReference&& other) noexcept
      : table_(std::exchange(other.table_, nullptr)) {}
  KeyTableReference& operator=(KeyTableReference&&) = delete;
  ~KeyTableReference() {
    if (table_ != nullptr) table_->drop_reference();
  }

  [[nodiscard]] KeyTable& operator*() const noexcept { return *table_; }

 private:
  KeyTable* table_;
};

}  // namespace holdfast::async::internal
