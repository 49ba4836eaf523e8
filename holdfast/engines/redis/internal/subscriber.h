#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/redis/redis_options.h>

namespace holdfast::engines::redis::internal {

// Listens to channels of a Redis server, on a connection and in a thread of its own.
//
// Thread-safe. The thread starts with the first subscribe(). A lost connection is made anew, with a
// growing, jittered pause, for as long as the subscriber lives, and all channels are subscribed
// again. Messages published meanwhile are lost; `on_gap` says so, after they are subscribed again.
//
// Callbacks run in the subscriber's thread, one at a time; they must not throw, nor destroy the
// subscriber, nor call subscribe(). Destruction waits for a callback that is running, and for an
// attempt to connect, which takes connect_timeout at most.
//
// A forked child may destroy what it inherited; any other call there is unsupported or does
// nothing.
class Subscriber {
 public:
  struct Callbacks {
    std::function<void(std::string_view channel, std::string_view payload)> on_message;
    std::function<void()> on_gap;
  };

  Subscriber(RedisOptions options, Callbacks callbacks);
  ~Subscriber();
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  // Returns when the server has confirmed: what is published from now on is heard. It is
  // unavailable if an attempt to connect failed or the deadline (of base::steady_clock()) came
  // first; the subscriber goes on trying until unsubscribe(), and calls on_gap when it has
  // succeeded.
  base::Result<void> subscribe(std::string channel, base::Deadline deadline);
  // Does not wait; a message that is on its way may still be delivered.
  void unsubscribe(std::string_view channel);

  // Whether all channels are subscribed at this moment, as far as is known.
  [[nodiscard]] bool is_listening() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace holdfast::engines::redis::internal
