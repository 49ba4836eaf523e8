#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <holdfast/engines/redis/redis_options.h>
#include <holdfast/store/lease_store.h>
#include <holdfast/store/listings.h>

namespace holdfast::engines::redis {

namespace internal {
class LeaseRequests;
}  // namespace internal

// The leases of all machines that share a Redis server (7 or later, or Valkey).
//
// Thread-safe: all threads share one pipelined connection, and all waiters a second one, which has
// a thread. In a forked child everything fails with ErrorCode::unsupported.
//
// Each operation but `list` is one script on the server and one round trip, judged by the server's
// clock. It blocks until its deadline; without one, until the server counts as dead
// (RedisOptions::reply_timeout). A server that has become a replica, is starting, or whose cluster
// is down is asked once more, over a new connection: another may have its address by now.
//
// `list` walks over all keys of the server with the first page; the pages that follow within a
// minute continue from there. limit_exceeded: more than 4 million names.
//
// A mutex is a string at the name itself, its value the lease id, set with an expiry: as redis-py's
// Lock and others have it, so that Holdfast excludes them and they exclude Holdfast. A lock of
// theirs shows as a Holder that is `foreign`; it is never changed. `list` finds it if it has an
// expiry, unless more than 100,000 strings of others match the store's prefix.
//
// The cost of a claim, renewal, transfer or release does not grow with the holders of the name.
// Busy names at most 16 of them, those whose leases end first; `look` names all.
//
// Tokens grow even if the server loses its data, as long as its clock does not go back meanwhile.
// Leases are lost with the data: see docs/engines/redis.md for what the server's settings mean.
//
// Beyond the errors of LeaseStore: conflict, if a key of another type is at the name.
//
//   auto store = RedisStore::open({.host = "redis.example"});
//   LockProvider provider(*std::move(store));
class RedisStore final : public store::LeaseStore {
 public:
  // For tests: the time by which leases are judged instead of the server's.
  using Time = std::function<std::chrono::microseconds()>;

  // Connects with the first operation: a server that cannot be reached, or lets nobody in, is an
  // error of that, and it is tried again with the next one.
  [[nodiscard]] static base::Result<std::unique_ptr<RedisStore>> open(RedisOptions options,
                                                                      Time time = {});
  ~RedisStore() override;

  [[nodiscard]] store::Capabilities capabilities() const override;
  // Through the same connection; the first request starts a thread that reads the answers.
  [[nodiscard]] store::AsyncLeaseStore* async() noexcept override;

 private:
  explicit RedisStore(std::unique_ptr<internal::LeaseRequests> requests);

  base::Result<store::ClaimOutcome> do_claim(const base::Name& name, const store::Claim& claim,
                                             base::Deadline deadline) override;
  base::Result<std::vector<store::RenewOutcome>> do_renew(std::span<const store::Renewal> renewals,
                                                          base::Deadline deadline) override;
  base::Result<store::TransferOutcome> do_transfer(const base::Name& name,
                                                   const base::LeaseId& from,
                                                   const store::Claim& to,
                                                   base::Deadline deadline) override;
  base::Result<store::ReleaseOutcome> do_release(const base::Name& name, const base::LeaseId& id,
                                                 base::Deadline deadline) override;
  base::Result<std::optional<store::NameState>> do_look(const base::Name& name,
                                                        base::Deadline deadline) override;
  base::Result<store::Page> do_list(std::string_view prefix, const store::PageRequest& request,
                                    base::Deadline deadline) override;
  base::Result<store::HitOutcome> do_hit(const base::Name& name, const store::Hit& hit,
                                         base::Deadline deadline) override;
  base::Result<store::Watch> do_watch(const base::Name& name,
                                      store::WatchCallback callback) override;

  std::unique_ptr<internal::LeaseRequests> requests_;
  const std::unique_ptr<store::AsyncLeaseStore> submitter_;
  std::unique_ptr<store::Listings> listings_ = std::make_unique<store::Listings>();
};

}  // namespace holdfast::engines::redis
