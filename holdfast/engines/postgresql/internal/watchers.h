#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/engines/postgresql/internal/listener.h>
#include <holdfast/engines/postgresql/internal/pool.h>
#include <holdfast/store/watch_list.h>

namespace holdfast::engines::postgresql::internal {

// The names that are watched through this store, and how the server notifies it.
//
// A store has a number, and a channel of its own. For a name that is watched it is in the name's
// queue, alone or with its claims. A release grants the name to the first claim in the queue, or
// sends a hint to the first store, so that one waiter wakes and not all. A store that was sent a
// hint has left the queue; a claim that is busy lets it join again.
//
// Thread-safe. Watches may outlive it. In a forked child it is not destroyed.
class Watchers {
 public:
  using Now = std::function<std::optional<std::int64_t>()>;

  // The pool outlives it. `now` is the time by which leases are judged, or nothing: the server's.
  Watchers(Pool& pool, Now now);

  [[nodiscard]] store::Watch add(std::string_view name, store::WatchCallback callback);

  // Returns the number under which a claim waits: zero if nobody here watches the name, or if the
  // store would not hear.
  [[nodiscard]] std::int64_t waits_as(std::string_view name) const;

  // Returns whether the server can notify this store, as far as is known.
  [[nodiscard]] bool may_hear() const noexcept { return !pool_.is_pooled(); }

 private:
  void on_message(std::string_view payload);
  void join_queue(std::string_view name);

  Pool& pool_;
  const Now now_;
  const std::int64_t store_;
  const std::string prefix_;
  store::WatchList watches_;
  std::once_flag started_;
  Listener listener_;  // last: its thread uses all of the above
};

}  // namespace holdfast::engines::postgresql::internal
