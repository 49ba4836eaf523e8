// Support for the tests of AsyncKeyLock.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <holdfast/async/async_key_lock.h>

namespace holdfast::async::testing_support {

namespace asio = boost::asio;

using Names = std::vector<std::string>;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Runs all ready work, and the work that this makes ready, until every coroutine waits or has
// ended.
inline void settle(asio::io_context& context) {
  context.restart();
  context.poll();
}

// Coroutines that queue for the key "k" on one io_context, and hold it until the test lets
// them go.
class Line {
 public:
  Line(AsyncKeyLock& keys, asio::io_context& context) : keys_(keys), context_(context) {}

  void writer(const std::string& name) { stand(name, keys_.lock("k")); }
  void writer(const std::string& name, const AsyncKeyWait& wait) {
    stand(name, keys_.lock("k", wait));
  }
  void reader(const std::string& name) { stand(name, keys_.lock_shared("k")); }

  void let_go(const std::string& name) {
    inside_.erase(name);
    settle(context_);
  }
  void cancel(const std::string& name) {
    signals_[name].emit(asio::cancellation_type::terminal);
    settle(context_);
  }

  [[nodiscard]] bool is_inside(const std::string& name) const { return inside_.contains(name); }
  // Returns what happened to each coroutine, in order, since the last call.
  [[nodiscard]] Names news() { return std::exchange(news_, {}); }

 private:
  template <class Guard>
  void stand(const std::string& name, asio::awaitable<Guard> lock) {
    asio::co_spawn(context_, wait(name, std::move(lock)),
                   asio::bind_cancellation_slot(signals_[name].slot(), asio::detached));
    settle(context_);
  }

  template <class Guard>
  asio::awaitable<void> wait(std::string name, asio::awaitable<Guard> lock) {
    try {
      Guard guard = co_await std::move(lock);
      inside_.emplace(name, std::move(guard));
      news_.push_back(name);
    } catch (const boost::system::system_error& error) {
      news_.push_back(name + (error.code() == asio::error::operation_aborted ? " cancelled"
                              : error.code() == asio::error::timed_out
                                  ? " timed out"
                                  : " " + error.code().message()));
    }
  }

  AsyncKeyLock& keys_;
  asio::io_context& context_;
  std::map<std::string, asio::cancellation_signal> signals_;
  std::map<std::string, std::variant<AsyncExclusiveGuard, AsyncSharedGuard>> inside_;
  Names news_;
};

}  // namespace holdfast::async::testing_support
