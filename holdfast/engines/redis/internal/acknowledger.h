#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/base/mutex.h>
#include <holdfast/base/name.h>
#include <holdfast/base/ttl.h>
#include <holdfast/engines/redis/internal/connection.h>
#include <holdfast/engines/redis/internal/key_space.h>
#include <holdfast/engines/redis/internal/scripts.h>

namespace holdfast::engines::redis::internal {

// Makes sure that replicas have grants: see RedisOptions::ack.
//
// Thread-safe. It has a connection of its own, because WAIT blocks the one that it is sent over,
// and a thread, which starts with the first grant. That renews the leases, as many as there are at
// the time, and then waits until enough replicas have that. So the same server that the replicas
// follow has the lease, and the replicas have all that was written before. Grants that come
// meanwhile share the next round.
class Acknowledger {
 public:
  struct Lease {
    base::Name name;
    base::LeaseId id;
    base::Ttl ttl;
  };
  using Callback = std::function<void(base::Result<void> acknowledged)>;

  // `keys` outlive it.
  Acknowledger(RedisOptions options, const KeySpace& keys, Scripts::Time time);
  ~Acknowledger() { close(); }
  Acknowledger(const Acknowledger&) = delete;
  Acknowledger& operator=(const Acknowledger&) = delete;

  // Blocks until enough replicas have the lease, or it is too late: RedisOptions::ack_timeout has
  // passed or the deadline has come. unavailable: they may have it or not.
  [[nodiscard]] base::Result<void> wait(Lease lease, base::Deadline deadline);
  // Calls back, once, by any thread. It may be up to ack_timeout late, if a round was under way,
  // and as long as the server is silent.
  void submit(Lease lease, base::Deadline deadline, Callback callback);

  // Answers what waits, and refuses what comes from now on. Blocks for a quarter of a second, or as
  // long as the server is silent: for reply_timeout at most.
  void close();

 private:
  struct Request {
    Lease lease;
    base::Deadline limit;
    Callback callback;
  };
  using Requests = std::vector<Request>;

  void run() noexcept;
  // Answers the requests; returns those that need another round.
  [[nodiscard]] Requests serve(Requests requests);
  // Answers those whose time is over, and removes them.
  static void refuse_late(Requests& requests);
  // Waits until enough replicas have what this connection has written, the limit has come, or the
  // store is closed. Returns how many have it.
  [[nodiscard]] base::Result<std::int64_t> count_replicas(base::Deadline limit);
  [[nodiscard]] bool is_closing();
  // Says for each request what became of it: 1 renewed, 0 lost; or why it is not known.
  [[nodiscard]] std::vector<base::Result<std::int64_t>> renew(const Requests& requests,
                                                              base::Deadline deadline) const;
  [[nodiscard]] base::Error too_few(std::int64_t replicas) const;

  // Constant after construction.
  const RedisOptions options_;
  const KeySpace& keys_;

  base::Mutex mutex_;
  base::ConditionVariable changed_;
  Requests queue_ HOLDFAST_GUARDED_BY(mutex_);
  bool is_closing_ HOLDFAST_GUARDED_BY(mutex_) = false;
  std::thread thread_ HOLDFAST_GUARDED_BY(mutex_);

  // The thread's.
  Connection connection_;
  const Scripts scripts_;
};

}  // namespace holdfast::engines::redis::internal
