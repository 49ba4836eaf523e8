#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <utility>

namespace holdfast::async {

// The limits of a wait for a key, in addition to the cancellation slot of the operation. The
// default is none.
//
// It has constructors on purpose: GCC 12 destroys an aggregate twice if it is created within a
// `co_await`.
//
//   auto guard = co_await keys.lock("report", token);
//   auto other = co_await keys.lock("report", AsyncKeyWait(steady_clock::now() + 2s, token));
struct AsyncKeyWait {
  using TimePoint = std::chrono::steady_clock::time_point;

  AsyncKeyWait() = default;
  // Implicit: `lock(key, token)`.
  AsyncKeyWait(std::stop_token its_stop)  // NOLINT(google-explicit-constructor)
      : stop(std::move(its_stop)) {}
  explicit AsyncKeyWait(TimePoint deadline, std::stop_token its_stop = {})
      : until(deadline), stop(std::move(its_stop)) {}

  // Ends the wait with asio::error::timed_out. A time in the past means one try.
  std::optional<TimePoint> until;
  // Ends the wait with asio::error::operation_aborted. A token that is already stopped means no
  // try.
  std::stop_token stop;
};

}  // namespace holdfast::async
