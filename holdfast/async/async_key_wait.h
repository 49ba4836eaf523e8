#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <utility>

namespace holdfast::async {

// What else may end a wait for a key, beside the cancellation slot of the operation. The default is
// nothing.
//
// It has constructors on purpose: GCC 12 destroys an aggregate twice that is made within a
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

  // Ends the wait with asio::error::timed_out. In the past: one try.
  std::optional<TimePoint> until;
  // Ends it with asio::error::operation_aborted. Stopped before: no try.
  std::stop_token stop;
};

}  // namespace holdfast::async
