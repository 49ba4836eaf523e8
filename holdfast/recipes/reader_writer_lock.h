#pragma once

#include <optional>
#include <string>

#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::recipes {

// A name that many may read, or one may write.
//
// Thread-safe. Outlived by its provider; its locks may outlive it. What blocks, for how long and
// how it is cancelled: as LockProvider::acquire does. Whoever uses the name uses it through a
// ReaderWriterLock: a plain lock of the same name is ErrorCode::conflict.
//
// A writer that waits holds back new readers, so that it gets in as soon as those who read have
// ended. Should it die while it waits, they are let in again after kHoldsBack. Who only tries
// (a wait of zero) holds nobody back. Each reader has a lease of its own: one that dies is gone
// within its ttl, whoever else reads.
//
// Not promised: an order among writers, nor that one writer lets readers in before the next.
//
//   ReaderWriterLock doc(provider, "doc");
//   auto writing = doc.acquire_exclusive({.wait = 5s});
//   auto now_reading = ReaderWriterLock::downgrade(writing);   // no writer gets in between
class ReaderWriterLock {
 public:
  // AcquireOptions::holds_back of a writer where it is not given.
  static constexpr base::Duration kHoldsBack = std::chrono::seconds(5);

  ReaderWriterLock(locks::LockProvider& provider, std::string name);

  // AcquireOptions::permits is not looked at. As LockProvider::acquire and try_acquire.
  [[nodiscard]] locks::Lock acquire_shared(const locks::AcquireOptions& options = {});
  [[nodiscard]] base::Result<std::optional<locks::Lock>> try_acquire_shared(
      const locks::AcquireOptions& options = {});
  [[nodiscard]] locks::Lock acquire_exclusive(const locks::AcquireOptions& options = {});
  [[nodiscard]] base::Result<std::optional<locks::Lock>> try_acquire_exclusive(
      const locks::AcquireOptions& options = {});

  // How a provider is asked to read, and to write.
  [[nodiscard]] static locks::AcquireOptions as_reader(locks::AcquireOptions options);
  [[nodiscard]] static locks::AcquireOptions as_writer(locks::AcquireOptions options);

  // Makes a writer a reader in one step, even if another writer waits; its token is a new one. Of a
  // reader: nothing. There is no way back: two readers that wait to write would wait for ever.
  [[nodiscard]] static base::Result<void> downgrade(locks::Lock& lock);

 private:
  locks::LockProvider& provider_;
  const std::string name_;
};

}  // namespace holdfast::recipes
