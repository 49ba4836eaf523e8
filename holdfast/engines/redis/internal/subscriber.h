#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/redis/redis_options.h>
#include <holdfast/store/listener.h>

namespace holdfast::engines::redis::internal {

class SubscriberCore;

// Listens to channels of a Redis server, on a connection and in a thread of its own.
//
// Thread-safe. The thread starts with the first subscribe(). A lost connection is made anew, with a
// growing, jittered pause, for as long as the subscriber lives, and all channels are subscribed
// again. Messages published meanwhile are lost; `on_gap` says so, after they are subscribed again.
//
// Messages and gaps are told in the subscriber's thread or in that of a guest, who listens through
// listener(), one at a time; a guest keeps time, so these callbacks are quick. Chores are done in
// the subscriber's thread. Callbacks must not throw, nor destroy the subscriber, nor call
// subscribe(). Destruction waits for a callback that is running, and for an attempt to connect,
// which takes connect_timeout at most. Nobody listens then any more.
//
// A forked child may destroy what it inherited; any other call there is unsupported or does
// nothing, and nobody listens there.
class Subscriber {
 public:
  struct Callbacks {
    std::function<void(std::string_view channel, std::string_view payload)> on_message;
    std::function<void()> on_gap;
    std::function<void()> chores = [] {};  // after call_for_chores(), and now and then
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

  // Ends the connection and makes another: the server may no longer be the one that publishes.
  // Does not wait.
  void reconnect() noexcept;

  // Whether all channels are subscribed at this moment, as far as is known.
  [[nodiscard]] bool is_listening() const;

  // May be called by a callback.
  void call_for_chores() noexcept;
  [[nodiscard]] store::Listener& listener() noexcept;

 private:
  std::unique_ptr<SubscriberCore> core_;
};

}  // namespace holdfast::engines::redis::internal
