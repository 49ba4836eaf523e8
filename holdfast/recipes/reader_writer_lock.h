#pragma once

#include <optional>
#include <string>

#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/recipes/options_for.h>

namespace holdfast::recipes {

// A name that many readers may hold, or one writer.
//
// Thread-safe. Its provider must outlive it; its locks may outlive it. Blocking and cancellation
// are those of LockProvider::acquire. All users of the name must use a ReaderWriterLock: a plain
// lock of the same name is ErrorCode::conflict.
//
// A waiting writer holds back new readers, so that it enters as soon as the present readers have
// finished. If it dies while it waits, readers enter again after kHoldsBack. A try (a wait of zero)
// holds nothing back. Each reader has its own lease: a dead reader's lease expires within its ttl,
// however many others read.
//
// Not promised: an order among writers, nor that readers enter between two writers.
//
//   ReaderWriterLock doc(provider, "doc");
//   auto writing = doc.acquire_exclusive({.wait = 5s});
//   auto now_reading = ReaderWriterLock::downgrade(writing);   // no writer gets in between
class ReaderWriterLock {
 public:
  // The default of AcquireOptions::holds_back for a writer.
  static constexpr base::Duration kHoldsBack = recipes::kHoldsBack;

  ReaderWriterLock(locks::LockProvider& provider, std::string name);

  // Acquire as LockProvider::acquire and try_acquire do, but ignore AcquireOptions::permits.
  [[nodiscard]] locks::Lock acquire_shared(const locks::AcquireOptions& options = {});
  [[nodiscard]] base::Result<std::optional<locks::Lock>> try_acquire_shared(
      const locks::AcquireOptions& options = {});
  [[nodiscard]] locks::Lock acquire_exclusive(const locks::AcquireOptions& options = {});
  [[nodiscard]] base::Result<std::optional<locks::Lock>> try_acquire_exclusive(
      const locks::AcquireOptions& options = {});

  // Turns a writer into a reader in one step, even if another writer waits; its token is a new one.
  // Does nothing for a reader. There is no upgrade: two readers that wait to write would wait for
  // ever.
  [[nodiscard]] static base::Result<void> downgrade(locks::Lock& lock);

 private:
  locks::LockProvider& provider_;
  const std::string name_;
};

}  // namespace holdfast::recipes
