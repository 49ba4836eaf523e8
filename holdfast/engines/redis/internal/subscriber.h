#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/mutex.h>
#include <holdfast/base/process_mark.h>
#include <holdfast/engines/redis/internal/connection/backoff.h>
#include <holdfast/engines/redis/internal/connection/poll_waker.h>
#include <holdfast/engines/redis/internal/connection/route.h>
#include <holdfast/engines/redis/internal/connection/transport.h>
#include <holdfast/engines/redis/redis_options.h>

namespace holdfast::engines::redis::internal {

// The subscriber connection: a thread that listens to one channel of a Redis server.
//
// Thread-safe. The thread starts with start(). A lost connection is made anew, with a growing,
// jittered pause, for as long as the subscriber lives. Messages published meanwhile are lost;
// `on_gap` says so, once the channel is subscribed again.
//
// Callbacks run in the subscriber's thread, one at a time. They are quick, do not throw, and call
// nothing of the subscriber but is_listening() and reconnect(). Destruction waits for a callback
// that is running, and for the route to open a connection: connect_timeout at most, after
// Route::stop_notifying().
//
// In a forked child nothing but is_inherited() may be called, and the subscriber is not destroyed.
class Subscriber {
 public:
  struct Callbacks {
    std::function<void(std::string_view text)> on_message;
    std::function<void()> on_gap;
    std::function<void()> on_idle = [] {};  // all messages that have come were read
  };

  // Connects over `route`, such as that of the store's other connection.
  Subscriber(RedisOptions options, std::string channel, Callbacks callbacks,
             std::shared_ptr<Route> route);
  // Connects over a route of its own.
  Subscriber(const RedisOptions& options, std::string channel, Callbacks callbacks);
  ~Subscriber();
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  // Blocks until the server has confirmed: what is published from now on is heard. It is
  // unavailable if an attempt to connect failed or the deadline (of base::steady_clock()) came
  // first; the subscriber goes on trying, and calls on_gap when it has succeeded.
  base::Result<void> start(base::Deadline deadline);

  // Ends the connection and makes another: the server may no longer be the one that publishes.
  // Does not wait.
  void reconnect() noexcept;
  // Does so unless the connection is to that server already.
  void move_to(const std::string& address);

  // Returns whether the channel is subscribed at this moment, as far as is known.
  [[nodiscard]] bool is_listening() const;
  [[nodiscard]] bool is_inherited() const noexcept { return process_.is_inherited(); }

 private:
  // All of these are the thread's.
  void run();
  // Returns why the connection was lost, or success if the subscriber is to stop.
  base::Result<void> serve();
  base::Result<void> read(Transport& transport);
  base::Result<void> handle(const Reply& reply);
  base::Result<base::Deadline> check_silence(Transport& transport);
  base::Deadline lost(const base::Error& error);
  // Returns whether it is the right server, as far as move_to() has said meanwhile.
  [[nodiscard]] bool note_server(std::string address);

  // Constant after construction.
  const RedisOptions options_;
  const std::string channel_;
  const Callbacks callbacks_;
  const std::shared_ptr<Route> route_;
  const base::ProcessMark process_;
  const PollWaker waker_;

  std::atomic<bool> is_stopping_ = false;
  std::atomic<bool> is_to_reconnect_ = false;

  mutable base::Mutex mutex_;
  base::ConditionVariable changed_;
  bool is_listening_ HOLDFAST_GUARDED_BY(mutex_) = false;
  bool has_gap_ HOLDFAST_GUARDED_BY(mutex_) = false;
  std::uint64_t failures_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  std::string last_failure_ HOLDFAST_GUARDED_BY(mutex_);
  std::string server_ HOLDFAST_GUARDED_BY(mutex_);    // its address; empty while there is none
  std::string moved_to_ HOLDFAST_GUARDED_BY(mutex_);  // the right one, said while there was none
  std::thread thread_;  // started with mutex_, joined by the destructor

  // The thread's.
  Backoff backoff_;
  std::optional<base::TimePoint> connected_at_;  // unless the last attempt failed
  std::optional<base::TimePoint> pinged_;        // and nothing has come since
};

}  // namespace holdfast::engines::redis::internal
