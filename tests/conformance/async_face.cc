#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <holdfast/async/async_lock_provider.h>

#include "async_face.h"

namespace holdfast::conformance {

namespace {

namespace asio = boost::asio;
using async::AsyncLock;
using async::AsyncLockProvider;
using base::Result;
using testing::LockFace;
using testing::LockFaceOf;

// All coroutines of all cases run here.
class OneThread {
 public:
  static OneThread& the() {
    static OneThread thread;
    return thread;
  }

  // Runs the coroutine to its end.
  template <class T>
  T run(asio::awaitable<T> coroutine) {
    return asio::co_spawn(context_, std::move(coroutine), asio::use_future).get();
  }

 private:
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_ =
      asio::make_work_guard(context_);
  std::jthread thread_{[this] { context_.run(); }};

 public:
  ~OneThread() { context_.stop(); }
};

class CoroutineLock final : public LockFaceOf<AsyncLock> {
 public:
  CoroutineLock() = default;
  CoroutineLock(std::shared_ptr<async::internal::EngineRoom> room, AsyncLock lock)
      : LockFaceOf(std::move(lock)), room_(std::move(room)) {}
  // A coroutine's scope ends, and what it gives back in the background is waited for.
  ~CoroutineLock() override {
    OneThread::the().run(end_scope(std::move(handle())));
    if (room_ != nullptr) {
      room_->wait_for_background();
    }
  }

  std::unique_ptr<LockFace> move_out() override {
    return std::make_unique<CoroutineLock>(room_, std::move(handle()));
  }
  void move_in(LockFace& other) override {
    LockFaceOf::move_in(other);
    if (room_ != nullptr) {
      room_->wait_for_background();
    }
    room_ = dynamic_cast<CoroutineLock&>(other).room_;
  }
  Result<store::ReleaseOutcome> release() override {
    return OneThread::the().run(release(handle()));
  }

 private:
  static asio::awaitable<void> end_scope(AsyncLock) { co_return; }
  static asio::awaitable<Result<store::ReleaseOutcome>> release(AsyncLock& lock) {
    co_return co_await lock.release();
  }

  std::shared_ptr<async::internal::EngineRoom> room_;
};

class CoroutineProvider final : public testing::ProviderFace {
 public:
  CoroutineProvider(std::shared_ptr<store::LeaseStore> store, locks::ProviderOptions options)
      : provider_(std::move(store), std::move(options)) {}

  std::unique_ptr<LockFace> acquire(std::string_view name,
                                    const locks::AcquireOptions& options) override {
    const auto room = provider_.room();  // the provider may end meanwhile
    auto lock = OneThread::the().run(acquire(provider_, std::string(name), options));
    return std::make_unique<CoroutineLock>(room, base::value_or_throw(std::move(lock)));
  }
  Result<std::unique_ptr<LockFace>> try_acquire(std::string_view name,
                                                const locks::AcquireOptions& options) override {
    const auto room = provider_.room();
    auto lock = OneThread::the().run(try_acquire(provider_, std::string(name), options));
    if (!lock) {
      return std::unexpected(std::move(lock).error());
    }
    return *lock ? std::make_unique<CoroutineLock>(room, **std::move(lock)) : nullptr;
  }
  Result<std::optional<store::NameState>> look(std::string_view name) override {
    return OneThread::the().run(look(provider_, std::string(name)));
  }
  locks::LockProvider& blocking() override { return provider_.blocking(); }

 private:
  // What is thrown stays on its thread: the sanitizer does not see into the library that counts the
  // references of an exception, and takes its end on another thread for a race.
  static asio::awaitable<Result<AsyncLock>> acquire(AsyncLockProvider& provider, std::string name,
                                                    const locks::AcquireOptions& options) {
    try {
      co_return co_await provider.acquire(std::move(name), options);
    } catch (const base::Exception& refused) {
      co_return std::unexpected(refused.error());
    }
  }
  static asio::awaitable<Result<std::optional<AsyncLock>>> try_acquire(
      AsyncLockProvider& provider, std::string name, const locks::AcquireOptions& options) {
    co_return co_await provider.try_acquire(std::move(name), options);
  }
  static asio::awaitable<Result<std::optional<store::NameState>>> look(AsyncLockProvider& provider,
                                                                       std::string name) {
    co_return co_await provider.look(std::move(name));
  }

  AsyncLockProvider provider_;
};

}  // namespace

testing::Face async_face() {
  return {.name = "async",
          .make_provider =
              [](std::shared_ptr<store::LeaseStore> store, locks::ProviderOptions options) {
                return std::make_unique<CoroutineProvider>(std::move(store), std::move(options));
              },
          .make_empty_lock = [] { return std::make_unique<CoroutineLock>(); }};
}

}  // namespace holdfast::conformance
