#pragma once

#include <string>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async/async_lock.h>
#include <holdfast/async/async_lock_provider.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/recipes/reader_writer_lock.h>

namespace holdfast::async {

// recipes::ReaderWriterLock for coroutines, with the same promises. Completion and cancellation are
// those of AsyncLockProvider.
//
// Thread-safe. Its provider must outlive it; its locks may outlive it. Name the options, as for
// AsyncLockProvider.
//
//   ReaderWriterLock doc(provider, "doc");
//   AsyncLock writing = co_await doc.acquire_exclusive(brief);
//   co_await ReaderWriterLock::downgrade(writing);   // no writer gets in between
class ReaderWriterLock {
 public:
  ReaderWriterLock(AsyncLockProvider& provider, std::string name)
      : provider_(provider), name_(std::move(name)) {}

  // Acquire as AsyncLockProvider::acquire and try_acquire do, but ignore AcquireOptions::permits.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto acquire_shared(const locks::AcquireOptions& options, Token&& token = {}) {
    const auto how = recipes::ReaderWriterLock::as_reader(options);
    return provider_.acquire(name_, how, std::forward<Token>(token));
  }
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto try_acquire_shared(const locks::AcquireOptions& options, Token&& token = {}) {
    const auto how = recipes::ReaderWriterLock::as_reader(options);
    return provider_.try_acquire(name_, how, std::forward<Token>(token));
  }
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto acquire_exclusive(const locks::AcquireOptions& options, Token&& token = {}) {
    const auto how = recipes::ReaderWriterLock::as_writer(options);
    return provider_.acquire(name_, how, std::forward<Token>(token));
  }
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto try_acquire_exclusive(const locks::AcquireOptions& options,
                                           Token&& token = {}) {
    const auto how = recipes::ReaderWriterLock::as_writer(options);
    return provider_.try_acquire(name_, how, std::forward<Token>(token));
  }

  // Turns a writer into a reader in one step. Completes with base::Result<void>.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] static auto downgrade(AsyncLock& lock, Token&& token = {}) {
    return lock.reduce(store::Permits::reader().count, std::forward<Token>(token));
  }

 private:
  AsyncLockProvider& provider_;
  const std::string name_;
};

}  // namespace holdfast::async
