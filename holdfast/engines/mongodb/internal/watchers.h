#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <holdfast/engines/mongodb/internal/id_space.h>
#include <holdfast/engines/mongodb/internal/link.h>
#include <holdfast/engines/mongodb/internal/poll_pace.h>
#include <holdfast/engines/mongodb/internal/requests.h>
#include <holdfast/store/watch_list.h>

namespace holdfast::engines::mongodb::internal {

// The watches of names through this store, and the ways in which they learn of a release.
//
// While somebody watches, a thread with a connection of its own follows the changes of the
// collection, where the server can tell of them (a replica set, a sharded cluster); elsewhere it
// looks at the names that are watched, at a pace that adapts. All are called when the connection
// was lost, because it is not known what was missed.
//
// Thread-safe. Watches may outlive it.
class Watchers {
 public:
  // All outlive it.
  Watchers(Link& link, const Requests& requests, const IdSpace& ids);
  ~Watchers();
  Watchers(const Watchers&) = delete;
  Watchers& operator=(const Watchers&) = delete;

  [[nodiscard]] base::Result<store::Watch> add(std::string_view name,
                                               store::WatchCallback callback);
  // A release through this store: local waiters need not wait until a poll finds it.
  void released(std::string_view name) const { watches_.notify(name, {}); }

 private:
  // The watched names; shared with the watches, which may outlive this object.
  struct Names;
  enum class Mode : std::uint8_t { stream, poll };

  [[nodiscard]] bool is_stopping() const { return stopping_.load(std::memory_order_relaxed); }
  void run();
  // Follows changes until nobody watches any more, or we are to stop; why it could not.
  std::optional<Trouble> follow();
  void tell(const Bson& changes) const;
  // One look; whether a name was free that was not before, or why there was none.
  base::Result<bool> look();
  void pause(base::Duration time);

  Link& link_;
  const Requests& requests_;
  const IdSpace& ids_;
  store::WatchList watches_;
  const std::shared_ptr<Names> names_;
  std::atomic<bool> stopping_ = false;
  std::once_flag started_;

  // The thread's.
  Mode mode_ = Mode::stream;  // until the server says that it cannot
  PollPace pace_;
  std::map<std::string, std::string, std::less<>> seen_;  // by name, what its last look showed

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace holdfast::engines::mongodb::internal
