#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

namespace holdfast::async {

// What else may end a wait for a key, beside the cancellation slot of the operation. The default is
// nothing.
//
//   auto guard = co_await keys.lock("report", {.until = steady_clock::now() + 2s, .stop = token});
struct AsyncKeyWait {
  // Ends the wait with asio::error::timed_out. In the past: one try.
  std::optional<std::chrono::steady_clock::time_point> until{};
  // Ends it with asio::error::operation_aborted. Stopped before: no try.
  std::stop_token stop{};
};

}  // namespace holdfast::async
