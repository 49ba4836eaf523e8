#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/log.h>
#include <holdfast/engines/redis/internal/key_space.h>
#include <holdfast/engines/redis/internal/places.h>
#include <holdfast/engines/redis/internal/scripts.h>
#include <holdfast/engines/redis/internal/subscriber.h>
#include <holdfast/store/wakeups.h>

namespace holdfast::engines::redis::internal {

// Who watches which name through this store, and how the server tells them.
//
// A store listens on a channel of its own. For a name that is watched it stands in the name's
// queue, alone or with a claim, and a release tells the first in that queue, or gives the name to
// that claim, so that one wakes and not all. Who was told stands in the queue no more; a claim that
// is busy, or a look, puts it there again.
//
// Thread-safe. Watches may outlive it.
class Watchers {
 public:
  // All of them outlive it. `places` is told who was given a name.
  Watchers(const RedisOptions& options, const Scripts& scripts, const KeySpace& keys,
           Places& places);

  [[nodiscard]] store::Watch add(std::string_view name, store::WatchCallback callback);

  // Under which name this store is to wait for it: empty if nobody here watches it, or if we would
  // not hear.
  [[nodiscard]] std::string_view waits_as(std::string_view name) const;

  // The server at our address may be another by now: listens over a new connection.
  void reconnect() noexcept { subscriber_.reconnect(); }

  [[nodiscard]] store::Listener& listener() noexcept { return subscriber_.listener(); }

 private:
  struct Names;

  void on_message(std::string_view text);
  void on_hint(std::string_view name);
  void listen();
  void stand_in_queue(std::string_view name) const;
  void pass_on_strays();
  [[nodiscard]] bool pass_on(std::string_view name) const;

  const Scripts& scripts_;
  const KeySpace& keys_;
  Places& places_;
  const base::Logger logger_;
  const std::string id_;
  store::Wakeups wakeups_;
  const std::shared_ptr<Names> names_;  // that are watched
  std::mutex mutex_;
  std::vector<std::string> strays_;  // hints for nobody here; protected by mutex_

  std::once_flag listening_;
  Subscriber subscriber_;  // last: its thread uses all of the above
};

}  // namespace holdfast::engines::redis::internal
