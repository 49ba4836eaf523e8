#pragma once

#include <string>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async/async_lock.h>
#include <holdfast/async/async_lock_provider.h>
#include <holdfast/async/internal/refuse_unnamed.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/recipes/options_for.h>

namespace holdfast::async {

// recipes::ReaderWriterLock for coroutines, with the same promises. Completion and cancellation are
// those of AsyncLockProvider.
//
// Thread-safe. Its provider must outlive it; its locks may outlive it. Name the options, as for
// AsyncLockProvider.
//
//   AsyncReaderWriterLock doc(provider, "doc");
//   AsyncLock writing = co_await doc.acquire_exclusive(brief);
//   co_await AsyncReaderWriterLock::downgrade(writing);   // no writer gets in between
class AsyncReaderWriterLock {
 public:
  AsyncReaderWriterLock(AsyncLockProvider& provider, std::string name)
      : provider_(provider), name_(std::move(name)) {}

  // Acquire as AsyncLockProvider::acquire and try_acquire do, but ignore AcquireOptions::permits.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto acquire_shared(const locks::AcquireOptions& options, Token&& token = {}) {
    const auto how = recipes::as_reader(options);
    return provider_.acquire(name_, how, std::forward<Token>(token));
  }
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto try_acquire_shared(const locks::AcquireOptions& options, Token&& token = {}) {
    const auto how = recipes::as_reader(options);
    return provider_.try_acquire(name_, how, std::forward<Token>(token));
  }
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto acquire_exclusive(const locks::AcquireOptions& options, Token&& token = {}) {
    const auto how = recipes::as_writer(options);
    return provider_.acquire(name_, how, std::forward<Token>(token));
  }
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto try_acquire_exclusive(const locks::AcquireOptions& options,
                                           Token&& token = {}) {
    const auto how = recipes::as_writer(options);
    return provider_.try_acquire(name_, how, std::forward<Token>(token));
  }

  [[nodiscard]] auto acquire_shared() { return acquire_shared(internal::kDefaultOptions); }
  [[nodiscard]] auto try_acquire_shared() { return try_acquire_shared(internal::kDefaultOptions); }
  [[nodiscard]] auto acquire_exclusive() { return acquire_exclusive(internal::kDefaultOptions); }
  [[nodiscard]] auto try_acquire_exclusive() {
    return try_acquire_exclusive(internal::kDefaultOptions);
  }

  // Do not compile: the options need a name.
  template <class... Token>
  void acquire_shared(locks::AcquireOptions&& /*options*/, Token&&... /*token*/) {
    internal::refuse_unnamed_options<Token...>();
  }
  template <class... Token>
  void try_acquire_shared(locks::AcquireOptions&& /*options*/, Token&&... /*token*/) {
    internal::refuse_unnamed_options<Token...>();
  }
  template <class... Token>
  void acquire_exclusive(locks::AcquireOptions&& /*options*/, Token&&... /*token*/) {
    internal::refuse_unnamed_options<Token...>();
  }
  template <class... Token>
  void try_acquire_exclusive(locks::AcquireOptions&& /*options*/, Token&&... /*token*/) {
    internal::refuse_unnamed_options<Token...>();
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
