#include <holdfast/local/key_lock.h>

#include <set>
#include <utility>

#include <holdfast/base/try.h>

namespace holdfast::local {

namespace internal {

// The only code that makes guards.
struct KeyGuards {
  static ExclusiveGuard exclusive(KeyTable& table, KeyEntry* entry) noexcept {
    return {table, entry};
  }
  static SharedGuard shared(KeyTable& table, KeyEntry* entry) noexcept { return {table, entry}; }
  static SharedGuard shared(KeyTable& table, ReaderSlot& slot) noexcept { return {table, slot}; }
};

}  // namespace internal

using internal::KeyEntry;
using internal::KeyGuards;
using internal::KeyProbe;
using internal::Mode;
using internal::ReaderSlot;

void ExclusiveGuard::release() noexcept {
  table_->release<Mode::exclusive>(std::exchange(entry_, nullptr));
}

SharedGuard ExclusiveGuard::downgrade() && noexcept {
  if (entry_ == nullptr) {
    return {};
  }
  table_->downgrade(entry_);
  return KeyGuards::shared(*table_, std::exchange(entry_, nullptr));
}

void SharedGuard::release() noexcept {
  if (slot_ != nullptr) {
    table_->release_slot(*std::exchange(slot_, nullptr));
  } else {
    table_->release<Mode::shared>(std::exchange(entry_, nullptr));
  }
}

std::optional<ExclusiveGuard> SharedGuard::try_upgrade() {
  KeyEntry* upgraded = nullptr;
  if (slot_ != nullptr) {
    upgraded = table_->try_upgrade_slot(*slot_);
  } else if (entry_ != nullptr && table_->try_upgrade(entry_)) {
    upgraded = entry_;
  }
  if (upgraded == nullptr) {
    return std::nullopt;
  }
  slot_ = nullptr;
  entry_ = nullptr;
  return KeyGuards::exclusive(*table_, upgraded);
}

KeyLock::KeyLock(const KeyLockOptions& options)
    : table_(std::make_unique<internal::KeyTable>(options)) {}
KeyLock::~KeyLock() = default;

ExclusiveGuard KeyLock::lock(std::string_view key) {
  return KeyGuards::exclusive(*table_, table_->lock<Mode::exclusive>(key));
}

SharedGuard KeyLock::lock_shared(std::string_view key) {
  const KeyProbe probe = table_->probe(key);
  if (ReaderSlot* const slot = table_->try_acquire_slot(probe)) {
    return KeyGuards::shared(*table_, *slot);
  }
  return KeyGuards::shared(*table_, table_->lock<Mode::shared>(key));
}

std::expected<ExclusiveGuard, WaitEnd> KeyLock::lock(std::string_view key, const KeyWait& wait) {
  HOLDFAST_TRY_LET(const auto entry, table_->acquire(table_->probe(key), Mode::exclusive, wait));
  return KeyGuards::exclusive(*table_, entry);
}

std::expected<SharedGuard, WaitEnd> KeyLock::lock_shared(std::string_view key,
                                                         const KeyWait& wait) {
  HOLDFAST_TRY_LET(const auto entry, table_->acquire(table_->probe(key), Mode::shared, wait));
  return KeyGuards::shared(*table_, entry);
}

std::optional<ExclusiveGuard> KeyLock::try_lock(std::string_view key) {
  KeyEntry* const entry = table_->try_acquire(table_->probe(key), Mode::exclusive);
  return entry != nullptr ? std::optional(KeyGuards::exclusive(*table_, entry)) : std::nullopt;
}

std::optional<SharedGuard> KeyLock::try_lock_shared(std::string_view key) {
  const KeyProbe probe = table_->probe(key);
  if (ReaderSlot* const slot = table_->try_acquire_slot(probe)) {
    return KeyGuards::shared(*table_, *slot);
  }
  KeyEntry* const entry = table_->try_acquire(probe, Mode::shared);
  return entry != nullptr ? std::optional(KeyGuards::shared(*table_, entry)) : std::nullopt;
}

KeyLock::MultiGuard KeyLock::lock_all(std::span<const std::string_view> keys) {
  return *lock_all(keys, {});
}

std::expected<KeyLock::MultiGuard, WaitEnd> KeyLock::lock_all(
    std::span<const std::string_view> keys, const KeyWait& wait) {
  const std::set<std::string_view> in_order(keys.begin(), keys.end());
  MultiGuard guards;
  guards.reserve(in_order.size());
  for (const std::string_view key : in_order) {
    HOLDFAST_TRY_LET(ExclusiveGuard guard, lock(key, wait));
    guards.push_back(std::move(guard));
  }
  return guards;
}

std::size_t KeyLock::size() const { return table_->size(); }
KeyLockStats KeyLock::stats() const { return table_->stats(); }
std::vector<KeyState> KeyLock::snapshot() const { return table_->snapshot(); }

}  // namespace holdfast::local
