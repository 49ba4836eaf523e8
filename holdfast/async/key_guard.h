#pragma once

#include <utility>

#include <holdfast/async/internal/key_waiter.h>

namespace holdfast::async {

namespace internal {
struct KeyGuards;
}  // namespace internal

// A guard that holds one key until it is destroyed or unlocked.
//
// One thread at a time; it may be moved to, and unlocked by, another thread. It may outlive its
// AsyncKeyLock. A moved-from or unlocked guard holds nothing and may be destroyed, assigned or
// unlocked again.
//
// Unlocking never blocks, and never runs other code: the next waiter gets the key at once, and is
// resumed through its own executor (asio::post). It does not fail, except that the program ends if
// there is no memory for that.
template <internal::KeyMode kMode>
class [[nodiscard]] BasicKeyGuard {
 public:
  BasicKeyGuard() noexcept = default;
  BasicKeyGuard(BasicKeyGuard&& other) noexcept
      : table_(other.table_), entry_(std::exchange(other.entry_, nullptr)) {}
  BasicKeyGuard& operator=(BasicKeyGuard&& other) noexcept {
    BasicKeyGuard(std::move(other)).swap(*this);
    return *this;
  }
  ~BasicKeyGuard() { unlock(); }

  void unlock() noexcept {
    if (entry_ != nullptr) release();
  }

  // Turns the writer into a reader without letting another writer in between; readers at the front
  // of the queue enter with it. This guard then holds nothing.
  [[nodiscard]] BasicKeyGuard<internal::KeyMode::shared> downgrade() && noexcept
    requires(kMode == internal::KeyMode::exclusive);

  [[nodiscard]] bool holds() const noexcept { return entry_ != nullptr; }
  explicit operator bool() const noexcept { return holds(); }

  void swap(BasicKeyGuard& other) noexcept {
    std::swap(table_, other.table_);
    std::swap(entry_, other.entry_);
  }

 private:
  friend struct internal::KeyGuards;
  BasicKeyGuard(internal::KeyTable& table, internal::KeyEntry* entry) noexcept
      : table_(&table), entry_(entry) {}
  void release() noexcept;

  internal::KeyTable* table_ = nullptr;
  internal::KeyEntry* entry_ = nullptr;
};

using AsyncExclusiveGuard = BasicKeyGuard<internal::KeyMode::exclusive>;
using AsyncSharedGuard = BasicKeyGuard<internal::KeyMode::shared>;

namespace internal {

// Makes guards for the operations.
struct KeyGuards {
  template <KeyMode kMode>
  static BasicKeyGuard<kMode> make(KeyTable& table, KeyEntry* entry) noexcept {
    return {table, entry};
  }
};

}  // namespace internal

}  // namespace holdfast::async
