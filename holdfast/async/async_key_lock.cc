#include <holdfast/async/async_key_lock.h>

#include <new>

#include <holdfast/base/error.h>

namespace holdfast::async {

using internal::KeyAttempt;
using internal::KeyMode;
using internal::KeyOutcome;
using internal::KeyTable;

namespace {

const AsyncKeyLockOptions& checked(const AsyncKeyLockOptions& options) {
  if (options.max_waiters == 0) {
    base::throw_error({base::ErrorCode::invalid_argument,
                       "AsyncKeyLockOptions::max_waiters is zero: no operation could wait"});
  }
  return options;
}

template <KeyMode kMode>
std::optional<BasicKeyGuard<kMode>> try_to_lock(KeyTable& table, std::string_view key) {
  const KeyAttempt attempt = table.try_enter(key, kMode);
  if (attempt.outcome == KeyOutcome::no_memory) {
    throw std::bad_alloc();
  }
  if (attempt.outcome != KeyOutcome::entered) {
    return std::nullopt;
  }
  return internal::KeyGuards::make<kMode>(table, attempt.entry);
}

}  // namespace

AsyncKeyLock::AsyncKeyLock(const AsyncKeyLockOptions& options)
    : table_(new KeyTable(checked(options).max_waiters)) {}

AsyncKeyLock::~AsyncKeyLock() { table_->close(); }

std::optional<AsyncExclusiveGuard> AsyncKeyLock::try_lock(std::string_view key) {
  return try_to_lock<KeyMode::exclusive>(*table_, key);
}

std::optional<AsyncSharedGuard> AsyncKeyLock::try_lock_shared(std::string_view key) {
  return try_to_lock<KeyMode::shared>(*table_, key);
}

std::size_t AsyncKeyLock::size() const { return table_->size(); }

local::KeyLockStats AsyncKeyLock::stats() const { return table_->stats(); }

std::vector<local::KeyState> AsyncKeyLock::snapshot() const { return table_->snapshot(); }

}  // namespace holdfast::async
