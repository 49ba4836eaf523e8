#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace holdfast::local {

namespace internal {
class KeyTable;
struct KeyEntry;
struct KeyGuards;
}  // namespace internal

class SharedGuard;

// A guard that holds one key exclusively until it is destroyed or unlocked.
//
// One thread at a time; it may be moved to, and unlocked by, another thread. The lock it came from
// must outlive it. A moved-from or unlocked guard holds nothing and may be destroyed, assigned or
// unlocked again. Unlocking never blocks and never fails.
class [[nodiscard]] ExclusiveGuard {
 public:
  ExclusiveGuard() noexcept = default;
  ExclusiveGuard(ExclusiveGuard&& other) noexcept
      : table_(other.table_), entry_(std::exchange(other.entry_, nullptr)) {}
  ExclusiveGuard& operator=(ExclusiveGuard&& other) noexcept {
    ExclusiveGuard(std::move(other)).swap(*this);
    return *this;
  }
  ~ExclusiveGuard() { unlock(); }

  void unlock() noexcept {
    if (entry_ != nullptr) {
      release();
    }
  }
  // Turns the writer into a reader, without letting another writer in between. This guard then
  // holds nothing.
  [[nodiscard]] SharedGuard downgrade() && noexcept;

  [[nodiscard]] bool holds() const noexcept { return entry_ != nullptr; }
  explicit operator bool() const noexcept { return holds(); }

  void swap(ExclusiveGuard& other) noexcept {
    std::swap(table_, other.table_);
    std::swap(entry_, other.entry_);
  }

 private:
  friend struct internal::KeyGuards;
  ExclusiveGuard(internal::KeyTable& table, internal::KeyEntry* entry) noexcept
      : table_(&table), entry_(entry) {}
  void release() noexcept;

  internal::KeyTable* table_ = nullptr;
  internal::KeyEntry* entry_ = nullptr;
};

// A guard that holds one key together with other readers; otherwise like ExclusiveGuard.
class [[nodiscard]] SharedGuard {
 public:
  SharedGuard() noexcept = default;
  SharedGuard(SharedGuard&& other) noexcept
      : table_(other.table_),
        entry_(std::exchange(other.entry_, nullptr)),
        slot_(std::exchange(other.slot_, nullptr)) {}
  SharedGuard& operator=(SharedGuard&& other) noexcept {
    SharedGuard(std::move(other)).swap(*this);
    return *this;
  }
  ~SharedGuard() { unlock(); }

  void unlock() noexcept {
    if (holds()) {
      release();
    }
  }
  // Turns the reader into the writer, ahead of all waiters, if it is the only reader at this
  // moment. Never blocks. On success this guard holds nothing; otherwise nothing has changed.
  // (There is no variant that waits: two readers that both waited to upgrade would wait for each
  // other.)
  [[nodiscard]] std::optional<ExclusiveGuard> try_upgrade();

  [[nodiscard]] bool holds() const noexcept { return entry_ != nullptr || slot_ != nullptr; }
  explicit operator bool() const noexcept { return holds(); }

  void swap(SharedGuard& other) noexcept {
    std::swap(table_, other.table_);
    std::swap(entry_, other.entry_);
    std::swap(slot_, other.slot_);
  }

 private:
  friend struct internal::KeyGuards;
  SharedGuard(internal::KeyTable& table, internal::KeyEntry* entry) noexcept
      : table_(&table), entry_(entry) {}
  SharedGuard(internal::KeyTable& table, std::atomic<std::uint64_t>& slot) noexcept
      : table_(&table), slot_(&slot) {}
  void release() noexcept;

  internal::KeyTable* table_ = nullptr;
  // At most one is set: the entry that counts this reader, or the slot it occupies.
  internal::KeyEntry* entry_ = nullptr;
  std::atomic<std::uint64_t>* slot_ = nullptr;
};

}  // namespace holdfast::local
