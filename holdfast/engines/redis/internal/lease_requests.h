#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/name.h>
#include <holdfast/engines/redis/internal/acknowledger.h>
#include <holdfast/engines/redis/internal/connection.h>
#include <holdfast/engines/redis/internal/key_space.h>
#include <holdfast/engines/redis/internal/queued_claims.h>
#include <holdfast/engines/redis/internal/scripts.h>
#include <holdfast/engines/redis/internal/watch_table.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/hit.h>
#include <holdfast/store/outcome.h>

namespace holdfast::engines::redis::internal {

// One request to the server, for a caller that blocks and for one that does not.
template <class T>
struct Request {
  Command command;
  // Called once, with what came of the request, even after the last use of the LeaseRequests that
  // made it.
  std::function<base::Result<T>(base::Result<Reply> reply)> read;
};

// The operations of a store as requests: which keys and arguments each sends, and how its answer is
// read. Thread-safe.
//
//   auto request = requests.claim(name, claim);
//   auto granted = request.read(requests.connection->call(request.command, deadline));
class LeaseRequests {
 public:
  LeaseRequests(RedisOptions options, const Scripts::Time& time);
  ~LeaseRequests() { close(); }  // late answers use the members
  LeaseRequests(const LeaseRequests&) = delete;
  LeaseRequests& operator=(const LeaseRequests&) = delete;

  // A request that was made must be sent.
  [[nodiscard]] Request<store::ClaimOutcome> claim(const base::Name& name,
                                                   const store::Claim& claim);
  [[nodiscard]] Request<store::TransferOutcome> transfer(const base::Name& name,
                                                         const base::LeaseId& from,
                                                         const store::Claim& to);
  [[nodiscard]] Request<store::ReleaseOutcome> release(const base::Name& name,
                                                       const base::LeaseId& id);
  [[nodiscard]] Request<std::optional<store::NameState>> look(const base::Name& name) const;
  [[nodiscard]] Request<store::HitOutcome> hit(const base::Name& name, const store::Hit& hit) const;

  // Answers what was submitted, and refuses what is from now on.
  void close();

  // Blocks for half a second at most.
  [[nodiscard]] store::Watch watch(const base::Name& name, store::WatchCallback callback);

  // These outlive the connection, whose late answers use them.
  QueuedClaims queued;
  const KeySpace keys;
  const Scripts scripts;
  const std::unique_ptr<Connection> connection;
  WatchTable watches;
  const std::unique_ptr<Acknowledger> acknowledger;  // only with RedisOptions::ack

 private:
  LeaseRequests(std::unique_ptr<Connection> new_connection, const Scripts::Time& time);

  // The member of the queue with this claim.
  [[nodiscard]] std::string member(const base::LeaseId& id) const;
  // Empty if this claim is not in the queue.
  [[nodiscard]] std::string queued_member(const base::Name& name, const base::LeaseId& id) const;
  [[nodiscard]] bool yields() const noexcept;
};

}  // namespace holdfast::engines::redis::internal
