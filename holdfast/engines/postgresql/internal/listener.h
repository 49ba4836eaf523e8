#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/mutex.h>
#include <holdfast/engines/postgresql/internal/connection.h>
#include <holdfast/engines/postgresql/internal/pool.h>

namespace holdfast::engines::postgresql::internal {

// A thread with a connection of its own, on which a store listens. While it listens the store
// counts as alive: it holds the advisory lock of its number (see sql/queue.sql).
//
// Thread-safe. The thread starts with start(). A lost connection is made anew, with a growing,
// jittered pause, for as long as the listener lives. What was sent meanwhile is lost; `on_gap` says
// so, once the connection is there again. Behind a pooler nothing can be heard: it then looks again
// every half a minute.
//
// Callbacks run in the listener's thread, one at a time, and do not throw. Destruction waits for
// one that is running.
//
// In a forked child nothing may be called, and the listener is not destroyed.
class Listener {
 public:
  struct Callbacks {
    std::function<void(std::string_view payload)> on_message;
    std::function<void()> on_gap;
  };

  // `store` is positive. The pool outlives the listener.
  Listener(Pool& pool, std::int64_t store, Callbacks callbacks);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Blocks until the server has confirmed: what is sent from now on is heard. It is unavailable if
  // an attempt to connect failed or the deadline came first; the listener goes on trying, and calls
  // on_gap when it has succeeded.
  base::Result<void> start(base::Deadline deadline);

  // Returns whether the store is heard of at this moment, as far as is known.
  [[nodiscard]] bool is_listening() const noexcept { return is_listening_.load(); }

 private:
  // All of these are the thread's.
  void run();
  Connection::Outcome<void> serve();
  void began();
  base::Duration lost(const Trouble& trouble);
  void pause(base::Duration time) const;

  Pool& pool_;
  const std::int64_t store_;
  const Callbacks callbacks_;
  const int stop_;  // an eventfd
  std::atomic<bool> is_stopping_ = false;
  std::atomic<bool> is_listening_ = false;

  base::Mutex mutex_;
  base::ConditionVariable changed_;
  bool has_gap_ HOLDFAST_GUARDED_BY(mutex_) = false;
  std::uint64_t failures_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  std::string last_failure_ HOLDFAST_GUARDED_BY(mutex_);
  std::thread thread_;  // started with mutex_, joined by the destructor

  // The thread's.
  base::Duration pause_;
  bool has_warned_ = false;
};

}  // namespace holdfast::engines::postgresql::internal
