#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async/async_options.h>
#include <holdfast/async/internal/handled.h>
#include <holdfast/async/internal/hit_operation.h>
#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/recipes/throttle_options.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::async {

// recipes::Throttle for coroutines: what is promised, and what is not, stands there. It shares what
// is counted with the throttles of threads.
//
// Thread-safe. Operations complete and are cancelled as those of AsyncLockProvider; they may
// outlive it, and ThrottleOptions::clock outlives them all. Who waits for its turn costs no thread.
//
//   Throttle calls(store, {.limit = 100, .period = 1min});
//   if (auto allowed = co_await calls.pass("api", 5s); allowed && *allowed) co_await call();
class Throttle {
 public:
  // base::Exception: invalid_argument for options that cannot be, limit_exceeded if there is no
  // thread to be had. It has two of its own.
  explicit Throttle(std::shared_ptr<store::LeaseStore> store, recipes::ThrottleOptions options = {},
                    const AsyncOptions& how = {});

  // base::Result<bool>: whether it may pass now; then it is counted. Several at once: all or none.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto try_pass(std::string key, std::uint32_t count = 1, Token&& token = {}) {
    return pass(std::move(key), base::Duration::zero(), {}, count, std::forward<Token>(token));
  }
  // base::Result<bool>: the same, and waits until it may. False as soon as it is sure that it will
  // not within the wait.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto pass(std::string key, base::Duration wait, std::stop_token stop = {},
                          std::uint32_t count = 1, Token&& token = {}) {
    return internal::initiate<internal::PassOperation, void(base::Result<bool>)>(
        std::forward<Token>(token), room_, options_, std::move(key), count, wait, std::move(stop));
  }
  // base::Result<store::HitOutcome>: how many have passed, how many may, and when.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto state(std::string key, Token&& token = {}) {
    return internal::initiate<internal::HitStateOperation, void(base::Result<store::HitOutcome>)>(
        std::forward<Token>(token), room_, options_, std::move(key));
  }

 private:
  const std::shared_ptr<const recipes::ThrottleOptions> options_;
  const std::shared_ptr<internal::EngineRoom> room_;
};

}  // namespace holdfast::async
