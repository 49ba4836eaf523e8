#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/log.h>
#include <holdfast/engines/redis/internal/key_space.h>
#include <holdfast/engines/redis/internal/queued_claims.h>
#include <holdfast/engines/redis/internal/scripts.h>
#include <holdfast/engines/redis/internal/subscriber.h>
#include <holdfast/store/watch_list.h>

namespace holdfast::engines::redis::internal {

// The names that are watched through this store, and how the server notifies it.
//
// A store listens on a channel of its own. For a name that is watched it is in the name's queue,
// alone or with a claim. A release sends a hint to the first store in that queue, or grants the
// name to that claim, so that one waiter wakes and not all. A store that was notified has left the
// queue; a claim that is busy, or a look, lets it join again. The first claim of a waiter joins the
// queue before the name is watched: it is sent again once it is.
//
// Thread-safe. Watches may outlive it.
class WatchTable {
 public:
  // All of them outlive it.
  WatchTable(Connection& connection, const Scripts& scripts, const KeySpace& keys,
             const QueuedClaims& queued);
  ~WatchTable();
  WatchTable(const WatchTable&) = delete;
  WatchTable& operator=(const WatchTable&) = delete;

  // Says if the first watch of a name lets the store join the name's queue.
  enum class Joins : std::uint8_t { no, the_queue };

  // Blocks for half a second at most.
  [[nodiscard]] store::Watch add(std::string_view name, store::WatchCallback callback,
                                 Joins joins = Joins::the_queue);

  // Identifies this store in queues; its channel ends with it.
  [[nodiscard]] const std::string& store_id() const noexcept { return id_; }
  // Returns store_id() if the store is to join the queue of this name; empty if nobody here watches
  // it, or if the store would not hear.
  [[nodiscard]] std::string_view waits_as(std::string_view name) const;
  // Says if the store receives its messages: it listens from the first watch on.
  enum class Listening : std::uint8_t { not_yet, yes, no };
  [[nodiscard]] Listening listening() const;
  // Returns how many watches there are of this name.
  [[nodiscard]] std::size_t count(std::string_view name) const { return watches_.count(name); }

  // The server at our address may be another by now: listens over a new connection.
  void reconnect() noexcept { subscriber_->reconnect(); }
  // Another server is the right one now: listens to that.
  void move_to(const std::string& address) { subscriber_->move_to(address); }

 private:
  void on_message(std::string_view text);
  void pass_on_strays();
  void listen();
  void join_queue(std::string_view name) const;
  void pass_on(std::string_view name) const;
  void decline(std::string_view name, const base::LeaseId& id) const;

  Connection& connection_;
  const Scripts& scripts_;
  const KeySpace& keys_;
  const QueuedClaims& queued_;
  const base::Logger logger_;
  const std::string id_;
  store::WatchList watches_;
  // The number of hints that are being passed on because no local waiter needs them. Shared with
  // their requests, which may end later.
  const std::shared_ptr<std::atomic<std::size_t>> passing_on_ =
      std::make_shared<std::atomic<std::size_t>>(0);
  std::vector<std::string> strays_;  // are to be passed on; the subscriber thread's

  std::once_flag listening_;
  std::atomic<bool> has_tried_to_listen_ = false;
  std::unique_ptr<Subscriber> subscriber_;  // last: its thread uses all of the above
};

}  // namespace holdfast::engines::redis::internal
