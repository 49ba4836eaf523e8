#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async/async_lock_provider.h>
#include <holdfast/async/async_options.h>
#include <holdfast/async/internal/calls.h>
#include <holdfast/async/internal/procedure_operation.h>
#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/recipes/throttle_options.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::async {

// recipes::Throttle for coroutines, with the same promises. It shares its counts with the throttles
// of threads.
//
// Thread-safe. Completion and cancellation are those of AsyncLockProvider; operations may outlive
// it, and ThrottleOptions::clock must outlive them all. A waiter costs no thread.
//
//   AsyncThrottle calls(provider, {.limit = 100, .period = 1min});
//   if (auto allowed = co_await calls.pass("api", 5s); allowed && *allowed) co_await call();
class AsyncThrottle {
 public:
  // Uses the store, the threads and the clock of the provider; ignores ThrottleOptions::clock.
  // Throws base::Exception with invalid_argument for invalid options.
  explicit AsyncThrottle(const AsyncLockProvider& provider, recipes::ThrottleOptions options = {});
  // Has two threads of its own. Throws limit_exceeded, too, if none can be started.
  explicit AsyncThrottle(std::shared_ptr<store::LeaseStore> store,
                         recipes::ThrottleOptions options = {}, const AsyncOptions& how = {});

  // Completes with base::Result<bool>: whether the call may pass now; if so it is counted. A count
  // above 1 passes all or none.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto try_pass(std::string key, std::uint32_t count = 1, Token&& token = {}) {
    return pass(std::move(key), base::Duration::zero(), {}, count, std::forward<Token>(token));
  }
  // Waits until the call may pass. Completes with base::Result<bool>: false as soon as it is sure
  // that it cannot pass within the wait.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto pass(std::string key, base::Duration wait, std::stop_token stop = {},
                          std::uint32_t count = 1, Token&& token = {}) {
    return internal::initiate<internal::PassCall, void(base::Result<bool>)>(
        std::forward<Token>(token), room_, options_, std::move(key), count, wait, std::move(stop));
  }
  // Completes with base::Result<store::HitOutcome>: how many have passed, how many may, and when.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto state(std::string key, Token&& token = {}) {
    return internal::initiate<internal::HitStateCall, void(base::Result<store::HitOutcome>)>(
        std::forward<Token>(token), room_, options_, std::move(key));
  }

 private:
  const std::shared_ptr<const recipes::ThrottleOptions> options_;
  const std::shared_ptr<internal::EngineRoom> room_;
};

}  // namespace holdfast::async
