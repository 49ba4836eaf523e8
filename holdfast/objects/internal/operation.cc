#include <holdfast/objects/internal/operation.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include <holdfast/base/steady_deadline.h>
#include <holdfast/objects/internal/call_chain.h>
#include <holdfast/objects/internal/host_core.h>
#include <holdfast/objects/internal/user_code.h>

namespace holdfast::objects::internal {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::string_view kBusyObject =
    "a method takes too long, or methods of objects that call each other wait for one another";

}  // namespace

// Stops when one of two does.
class Operation::EitherStop {
 public:
  EitherStop(const std::stop_token& one, const std::stop_token& other)
      : one_(one, [this] { source_.request_stop(); }),
        other_(other, [this] { source_.request_stop(); }) {}
  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::stop_callback<std::function<void()>> one_;
  std::stop_callback<std::function<void()>> other_;
};

Operation::Operation(HostCore& host, const Limits& limits)
    : host_(host),
      limits_(limits),
      until_(limits.within ? base::Deadline::after(base::steady_clock(), *limits.within)
                           : base::Deadline::never()) {}

Operation::~Operation() {
  if (place_ != nullptr) host_.gate.leave(*place_);
}

Result<void> Operation::enter() {
  if (limits_.stop.stop_requested()) [[unlikely]] {
    return fail(ErrorCode::cancelled, "the caller cancelled before the operation began");
  }
  if (!until_.is_never() && until_.expired(base::steady_clock().now())) [[unlikely]] {
    return fail(ErrorCode::timed_out, "the time limit of the caller was over from the start");
  }
  if (const Frame* const outer = Frame::innermost(&host_)) [[unlikely]] {
    if (outer->doing() == Doing::data) {
      return fail(ErrorCode::invalid_argument, "to_data and from_data may not call the host");
    }
    nested_ = true;
    return {};
  }
  order_ = Ranked(&host_, Rank::stop);
  place_ = host_.gate.enter();
  if (place_ == nullptr) [[unlikely]] {
    return fail(ErrorCode::unavailable, "the host is stopped");
  }
  return {};
}

void Operation::hurry(base::Duration wait) noexcept {
  committed_ = true;
  priority_ = local::Priority::urgent;
  locks_until_ = deadline(wait);
}

Result<Shared> Operation::share_key(ObjectType& type, std::string_view id,
                                    const local::KeyWait* within) const {
  Ranked order(&host_, Rank::key);
  if (auto guard = type.keys.try_lock_shared(id)) [[likely]] {
    return Shared{std::move(order), *std::move(guard)};
  }
  auto guard = type.keys.lock_shared(id, within != nullptr ? *within : wait());
  if (!guard) {
    return gave_up(guard.error(), type.describe(id), kBusyObject);
  }
  return Shared{std::move(order), *std::move(guard)};
}

Result<Exclusive> Operation::own(local::KeyLock& lock, Rank rank, const ObjectType& type,
                                 std::string_view id, const local::KeyWait* within) const {
  Ranked order(&host_, rank);
  if (auto guard = lock.try_lock(id)) [[likely]] {
    return Exclusive{std::move(order), *std::move(guard)};
  }
  auto guard = lock.lock(id, within != nullptr ? *within : wait());
  if (!guard) {
    return gave_up(guard.error(), type.describe(id), kBusyObject);
  }
  return Exclusive{std::move(order), *std::move(guard)};
}

local::KeyWait Operation::wait() const { return wait(host_.options.key_wait); }

local::KeyWait Operation::wait(base::Duration longest) const {
  const base::Deadline end = std::min(locks_until_, deadline(longest));
  return {.until = base::steady_deadline(end.remaining(base::steady_clock().now())),
          .stop = stop_token(),
          .priority = priority_};
}

base::Deadline Operation::deadline(base::Duration wait) const {
  return std::min(until_, base::Deadline::after(base::steady_clock(), wait));
}

base::Deadline Operation::store_deadline() const { return deadline(host_.options.store_wait); }

std::stop_token Operation::stop_token() const {
  if (committed_) {
    return {};
  }
  if (nested_ || !limits_.stop.stop_possible()) {
    return nested_ ? limits_.stop : host_.stopping.get_token();
  }
  if (either_ == nullptr) {
    either_ = std::make_unique<EitherStop>(limits_.stop, host_.stopping.get_token());
  }
  return either_->token();
}

std::unexpected<base::Error> Operation::store_failed(std::string_view doing,
                                                     const base::Error& why) const {
  base::Error error = in_context(doing, why);
  if (error.code == ErrorCode::unavailable && until_.expired(base::steady_clock().now())) {
    error.code = ErrorCode::timed_out;
  }
  return std::unexpected(std::move(error));
}

std::unexpected<base::Error> Operation::gave_up(local::WaitEnd why, std::string_view what,
                                                std::string_view hint) const {
  const std::string subject(what);
  if (why == local::WaitEnd::cancelled) {
    return fail(ErrorCode::cancelled,
                (limits_.stop.stop_requested() ? "the caller cancelled; " : "the host stops; ") +
                    subject + " was not reached");
  }
  if (until_.expired(base::steady_clock().now())) {
    return fail(ErrorCode::timed_out,
                subject + " was in use until the time limit of the caller was over");
  }
  return fail(ErrorCode::timed_out, subject + " was busy all the time: " + std::string(hint));
}

}  // namespace holdfast::objects::internal
