#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <holdfast/async/async_lock.h>
#include <holdfast/async/async_lock_provider.h>
#include <holdfast/base/error.h>
#include <holdfast/recipes/once.h>

namespace holdfast::async {

// recipes::Once for coroutines, with the same promises: work runs at most once in a period among
// all users of the store, threads and coroutines.
//
// Thread-safe. It and its provider must outlive its calls. The work is a coroutine and runs in the
// caller's. Work that throws counts as run, also if it was cancelled. If the execution context ends
// during the work, the name is released: the work counts as not run.
//
//   AsyncOnce nightly(provider, {.period = 20h});
//   co_await nightly.run("report", make_report);   // awaitable<void> make_report(const AsyncLock&)
class AsyncOnce {
 public:
  using Work = std::function<boost::asio::awaitable<void>(const AsyncLock& lock)>;
  using Attempt = std::function<boost::asio::awaitable<bool>(const AsyncLock& lock)>;
  using Outcome = base::Result<recipes::OnceOutcome>;

  explicit AsyncOnce(AsyncLockProvider& provider, recipes::OnceOptions options = {});

  [[nodiscard]] boost::asio::awaitable<Outcome> run(std::string key, Work work);
  // For work that may find that it cannot be done: if it returns false, it does not count as run.
  [[nodiscard]] boost::asio::awaitable<Outcome> attempt(std::string key, Attempt work);

 private:
  boost::asio::awaitable<void> end_run(AsyncLock lock, base::TimePoint started);

  AsyncLockProvider& provider_;
  const std::shared_ptr<recipes::Once> once_;  // shared with runs that end in the background
};

}  // namespace holdfast::async
