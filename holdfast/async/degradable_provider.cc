#include <holdfast/async/degradable_provider.h>

#include <exception>

#include <holdfast/async/internal/acquire_or_error.h>
#include <holdfast/base/deadline.h>

namespace holdfast::async {

namespace asio = boost::asio;
using base::Result;
using locks::AcquireOptions;
using MaybeLock = Result<std::optional<locks::Lock>>;

namespace {

MaybeLock into_blocking(Result<std::optional<AsyncLock>>&& held) {
  if (!held) {
    return std::unexpected(std::move(held).error());
  }
  return *held ? std::optional(std::move(**held).into_blocking()) : std::nullopt;
}

}  // namespace

AsyncDegradableLock& AsyncDegradableLock::operator=(AsyncDegradableLock&& other) noexcept {
  if (this != &other) {
    const AsyncDegradableLock old(std::move(*this));
    room_ = std::move(other.room_);
    lock_ = std::move(other.lock_);
  }
  return *this;
}

AsyncDegradableLock::~AsyncDegradableLock() {
  if (!lock_ || room_->is_inherited()) {
    return;
  }
  try {
    internal::run_in_background(
        room_, [held = std::make_shared<recipes::DegradableLock>(std::move(lock_))] {});
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // Without memory for the background, the handle itself releases the lock.
  }
}

AsyncDegradableProvider::AsyncDegradableProvider(std::shared_ptr<store::LeaseStore> store,
                                                 recipes::DegradationOptions options,
                                                 const AsyncOptions& how)
    : provider_(std::move(store), std::move(options)),
      shared_(provider_.shared(), how),
      local_(provider_.local() != nullptr
                 ? std::make_unique<AsyncLockProvider>(*provider_.local(), how)
                 : nullptr) {}

AsyncDegradableProvider::~AsyncDegradableProvider() = default;

asio::awaitable<AsyncDegradableLock> AsyncDegradableProvider::acquire_with(std::string name,
                                                                           AcquireOptions options) {
  const base::Duration wait = options.wait.value_or(base::Duration::max());
  auto lock = co_await acquire_within(std::move(name), std::move(options), wait,
                                      internal::acquire_or_error);
  co_return *base::value_or_throw(std::move(lock));
}

asio::awaitable<AsyncDegradableProvider::Outcome> AsyncDegradableProvider::acquire_within(
    std::string name, AcquireOptions options, base::Duration wait, Acquire& acquire) {
  if (auto valid = recipes::DegradableProvider::check(name, options); !valid) {
    co_return std::unexpected(std::move(valid).error());
  }
  const auto deadline = base::Deadline::after(shared_.clock(), wait);
  options.wait = wait;
  locks::Lock local;
  if (local_ != nullptr) {
    auto waited = co_await acquire(*local_, name, options);
    MaybeLock held = into_blocking(std::move(waited));
    if (!held) {
      co_return std::unexpected(std::move(held).error());
    }
    if (!*held) {
      co_return std::nullopt;
    }
    local = **std::move(held);
    options.wait = deadline.remaining(shared_.clock().now());
  }
  recipes::DegradableProvider::Attempt attempt(provider_, name, std::move(options),
                                               std::move(local));
  recipes::DegradableProvider::Outcome outcome{};
  if (attempt.begin()) {
    auto held = co_await acquire(shared_, name, attempt.how());
    outcome = attempt.end(into_blocking(std::move(held)));
  } else {
    outcome = attempt.outcome();
  }
  if (!outcome) {
    co_return std::unexpected(std::move(outcome).error());
  }
  if (!*outcome) {
    co_return std::nullopt;
  }
  co_return AsyncDegradableLock(shared_.room(), **std::move(outcome));
}

}  // namespace holdfast::async
