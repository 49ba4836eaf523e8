#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async/async_lock.h>
#include <holdfast/async/async_lock_provider.h>
#include <holdfast/async/internal/refuse_unnamed.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/recipes/semaphore_rules.h>

namespace holdfast::async {

// recipes::Semaphore for coroutines, with the same promises. Completion and cancellation are those
// of AsyncLockProvider.
//
// Thread-safe. Its provider must outlive it; its locks may outlive it. Name the options, as for
// AsyncLockProvider.
//
//   AsyncSemaphore gpus(provider, "gpus", 4);
//   AsyncLock two = co_await gpus.acquire(2, brief);
class AsyncSemaphore {
 public:
  // `capacity` must be at least 1; otherwise throws base::Exception with invalid_argument.
  AsyncSemaphore(AsyncLockProvider& provider, std::string name, std::uint32_t capacity)
      : provider_(provider), name_(std::move(name)), rules_(capacity) {}

  // Acquire as AsyncLockProvider::acquire and try_acquire do, but ignore AcquireOptions::permits.
  // Without a number, one permit.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto acquire(std::uint32_t permits, const locks::AcquireOptions& options,
                             Token&& token = {}) {
    const auto how = rules_.options_for(permits, options);
    return provider_.acquire(name_, how, std::forward<Token>(token));
  }
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto try_acquire(std::uint32_t permits, const locks::AcquireOptions& options,
                                 Token&& token = {}) {
    const auto how = rules_.options_for(permits, options);
    return provider_.try_acquire(name_, how, std::forward<Token>(token));
  }
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto acquire(const locks::AcquireOptions& options, Token&& token = {}) {
    return acquire(1, options, std::forward<Token>(token));
  }
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto try_acquire(const locks::AcquireOptions& options, Token&& token = {}) {
    return try_acquire(1, options, std::forward<Token>(token));
  }
  [[nodiscard]] auto acquire(std::uint32_t permits = 1) {
    return acquire(permits, internal::kDefaultOptions);
  }
  [[nodiscard]] auto try_acquire(std::uint32_t permits = 1) {
    return try_acquire(permits, internal::kDefaultOptions);
  }
  // Acquires all permits.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto drain(const locks::AcquireOptions& options, Token&& token = {}) {
    return acquire(capacity(), options, std::forward<Token>(token));
  }
  [[nodiscard]] auto drain() { return drain(internal::kDefaultOptions); }

  // Do not compile: the options need a name.
  template <class... Token>
  void acquire(std::uint32_t /*permits*/, locks::AcquireOptions&& /*options*/,
               Token&&... /*token*/) {
    internal::refuse_unnamed_options<Token...>();
  }
  template <class... Token>
  void try_acquire(std::uint32_t /*permits*/, locks::AcquireOptions&& /*options*/,
                   Token&&... /*token*/) {
    internal::refuse_unnamed_options<Token...>();
  }
  template <class... Token>
  void acquire(locks::AcquireOptions&& /*options*/, Token&&... /*token*/) {
    internal::refuse_unnamed_options<Token...>();
  }
  template <class... Token>
  void try_acquire(locks::AcquireOptions&& /*options*/, Token&&... /*token*/) {
    internal::refuse_unnamed_options<Token...>();
  }
  template <class... Token>
  void drain(locks::AcquireOptions&& /*options*/, Token&&... /*token*/) {
    internal::refuse_unnamed_options<Token...>();
  }

  // Returns how many are free at this moment.
  [[nodiscard]] boost::asio::awaitable<base::Result<std::uint32_t>> available();
  [[nodiscard]] std::uint32_t capacity() const noexcept { return rules_.capacity(); }

 private:
  AsyncLockProvider& provider_;
  const std::string name_;
  const recipes::SemaphoreRules rules_;
};

}  // namespace holdfast::async
