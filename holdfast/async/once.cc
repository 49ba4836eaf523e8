#include <holdfast/async/once.h>

#include <exception>
#include <utility>

#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async/internal/blocking_call.h>

namespace holdfast::async {

namespace asio = boost::asio;
using base::Result;
using recipes::OnceOutcome;

AsyncOnce::AsyncOnce(AsyncLockProvider& provider, recipes::OnceOptions options)
    : provider_(provider),
      once_(std::make_shared<recipes::Once>(provider.blocking(), std::move(options))) {}

asio::awaitable<AsyncOnce::Outcome> AsyncOnce::run(std::string key, Work work) {
  const Attempt always = [&work](const AsyncLock& lock) -> asio::awaitable<bool> {
    co_await work(lock);
    co_return true;
  };
  co_return co_await attempt(std::move(key), always);
}

asio::awaitable<AsyncOnce::Outcome> AsyncOnce::attempt(std::string key, Attempt work) {
  const auto run = once_->new_run(key);
  if (!run) {
    co_return std::unexpected(run.error());
  }
  auto acquired = co_await provider_.try_acquire(run->name, run->how);
  if (!acquired) {
    co_return std::unexpected(std::move(acquired).error());
  }
  if (!*acquired) {
    co_return OnceOutcome::skipped;
  }
  AsyncLock lock = **std::move(acquired);
  bool has_run = true;  // also if it throws
  std::exception_ptr thrown;
  try {
    has_run = co_await work(lock);
  } catch (...) {
    thrown = std::current_exception();
  }
  // A cancelled run is ended, too.
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  if (has_run) {
    co_await end_run(std::move(lock), run->started);
  } else {
    // A lease that cannot be released expires.
    static_cast<void>(co_await lock.release());
  }
  co_await asio::this_coro::throw_if_cancelled(throws);
  if (thrown) {
    std::rethrow_exception(thrown);
  }
  co_return has_run ? OnceOutcome::ran : OnceOutcome::not_done;
}

asio::awaitable<void> AsyncOnce::end_run(AsyncLock lock, base::TimePoint started) {
  const auto held = std::make_shared<locks::Lock>(std::move(lock).into_blocking());
  std::function<Result<void>()> end = [once = once_, held, started] {
    once->end_run(*held, started);
    *held = locks::Lock();  // released here if the period is over
    return Result<void>();
  };
  const auto ended = co_await internal::initiate_blocking<Result<void>>(
      asio::use_awaitable, provider_.room(), std::move(end));
  if (!ended) {  // no thread of the pool was free: it blocks rather than shorten the period
    once_->end_run(*held, started);
  }
}

}  // namespace holdfast::async
