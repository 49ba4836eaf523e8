#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include <holdfast/local/internal/key_probe.h>
#include <holdfast/local/internal/reader_bias.h>
#include <holdfast/local/internal/sharding.h>
#include <holdfast/local/internal/waiter.h>
#include <holdfast/local/key_lock_options.h>
#include <holdfast/local/key_stats.h>
#include <holdfast/local/key_wait.h>

namespace holdfast::local::internal {

struct KeyEntry;
struct KeyCell;
struct KeyShard;
struct Afterwards;
class CellGuard;
class WholeShard;

// The table behind KeyLock: holders, waiters, and the rules for both. Thread-safe.
//
// The top bits of a key's hash choose the shard (key_shard.h), the next ones the cell of a wide
// shard. Every change happens under the lock of the key's cell; only readers of a biased key
// (reader_bias.h) enter and leave without it.
class KeyTable {
 public:
  // Throws base::Exception with ErrorCode::invalid_argument for too many shards or entries.
  explicit KeyTable(const KeyLockOptions& options = {},
                    unsigned hardware_threads = std::thread::hardware_concurrency());
  ~KeyTable();
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  [[nodiscard]] KeyProbe probe(std::string_view key) const noexcept { return {key, seed_}; }
  [[nodiscard]] std::size_t shard_index(std::uint32_t hash) const noexcept {
    return internal::shard_index(hash, shard_bits_);
  }
  // Returns the key's cell, if its shard is wide.
  [[nodiscard]] std::size_t cell_index(std::uint32_t hash) const noexcept;

  // Waits for the key without limit; returns its entry, now held in this mode.
  template <Mode mode>
  KeyEntry* lock(std::string_view key);
  // Returns null if it would have to wait. Throws std::bad_alloc with nothing changed.
  KeyEntry* try_acquire(const KeyProbe& probe, Mode mode);
  std::expected<KeyEntry*, WaitEnd> acquire(const KeyProbe& probe, Mode mode, const KeyWait& how);
  template <Mode mode>
  void release(KeyEntry* entry) noexcept;
  // Releases for a holder that knows only the key.
  void release(const KeyProbe& probe, Mode mode) noexcept;

  // Turns the writer into a reader; readers at the front of the queue enter with it.
  void downgrade(KeyEntry* entry) noexcept;
  // Turns the only reader into the writer; returns false if there are other readers.
  bool try_upgrade(KeyEntry* entry);

  // Returns the calling thread's slot, now held, if the key is biased and the slot is free; else
  // null.
  ReaderSlot* try_acquire_slot(const KeyProbe& probe) noexcept;
  void release_slot(ReaderSlot& slot) noexcept;
  // Upgrades like try_upgrade: returns the entry if the slot's reader has become the writer, and
  // frees the slot; else null. Throws std::bad_alloc with nothing changed.
  KeyEntry* try_upgrade_slot(ReaderSlot& slot);

  // Returns how many keys are held or waited for.
  [[nodiscard]] std::size_t size();
  [[nodiscard]] std::size_t shard_count() const noexcept { return std::size_t{1} << shard_bits_; }
  // Returns how many cells the keys are spread over.
  [[nodiscard]] std::size_t cell_count() const noexcept;
  // Returns how many cells a wide shard has.
  [[nodiscard]] std::size_t cells_of_wide_shard() const noexcept { return cell_mask_ + 1; }
  [[nodiscard]] KeyLockStats stats();
  [[nodiscard]] std::vector<KeyState> snapshot();

 private:
  friend WholeShard;
  using SteadyTime = std::chrono::steady_clock::time_point;

  [[nodiscard]] KeyShard& shard_of(std::uint32_t hash) noexcept;
  // Locks the cell of the keys with this hash.
  [[nodiscard]] KeyCell& lock_cell(std::uint32_t hash) noexcept;
  [[nodiscard]] KeyCell& lock_cell_inline(std::uint32_t hash) noexcept;
  KeyEntry* take(CellGuard& guard, const KeyProbe& probe, Mode mode, Afterwards& afterwards);
  KeyEntry* find_or_add(KeyCell& cell, KeyProbe probe, Mode mode, Afterwards& afterwards);
  KeyEntry* try_take(const KeyProbe& probe, Mode mode);
  [[nodiscard]] KeyEntry* find_held(KeyCell& cell, const KeyProbe& probe) noexcept;
  void sample(CellGuard& guard, std::uint32_t hash) noexcept;
  void widen(KeyShard& shard, std::size_t index, CellGuard& guard) noexcept;
  // For a caller that found the key locked.
  KeyEntry* wait(std::string_view key, Mode mode);
  std::expected<KeyEntry*, WaitEnd> wait(const KeyProbe& probe, Mode mode, const KeyWait& how);
  std::expected<KeyEntry*, WaitEnd> wait_in_line(const KeyProbe& probe, Mode mode,
                                                 const KeyWait& wait, SteadyTime started);
  std::expected<void, WaitEnd> sleep_until_served(KeyEntry* entry, Waiter& waiter,
                                                  const KeyWait& wait);
  void answer_retry(KeyEntry* entry, Waiter& waiter) noexcept;
  bool give_up(KeyEntry* entry, Waiter& waiter) noexcept;

  void bias_towards(KeyCell& cell, std::string_view key) noexcept;
  // Ends the shard's bias if it is towards this key: the key's readers then count in its entry,
  // which is `entry` or, if that is null, a new one. Returns the entry. Throws std::bad_alloc with
  // nothing changed. Call it with the cell and the rest of its shard locked.
  KeyEntry* end_bias_towards(KeyCell& cell, const KeyProbe& probe, KeyEntry* entry,
                             Afterwards& afterwards);
  [[nodiscard]] std::size_t slot_readers(const KeyShard& shard) noexcept;

  const HashSeed seed_;
  const unsigned shard_bits_;
  const bool may_widen_;
  const std::size_t cell_mask_;
  const std::unique_ptr<KeyShard[]> shards_;
  // The cells of each wide shard; null for the others. Read at every call and hardly ever written.
  const std::unique_ptr<std::atomic<KeyCell*>[]> cells_;
  ReaderSlots slots_;
  // Uses of slots that have been collected from the slots so far.
  std::atomic<std::uint64_t> slot_uses_{0};
};

}  // namespace holdfast::local::internal
