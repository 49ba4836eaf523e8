#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <holdfast/engines/mongodb/mongo_options.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::engines::mongodb {

// The leases of all machines that share a MongoDB server, replica set or sharded cluster (4.2 or
// later).
//
// Thread-safe: each thread in an operation uses a connection of its own, from a pool. Whoever
// watches has a thread and a connection more. In a forked child everything fails with
// ErrorCode::unsupported.
//
// Each claim and each transfer is one update on the server, judged by the server's clock, which
// counts milliseconds. It blocks until its deadline; without one, until MongoOptions::reply_timeout
// has passed. A server that steps down, or goes away and comes back, is asked again meanwhile, with
// the same lease id.
//
// A mutex is a document as DistributedLock.MongoDB has it, so that Holdfast excludes those programs
// and they exclude Holdfast. A lock of theirs shows as a Holder that is `foreign`; it is never
// changed.
//
// Tokens grow even if the server forgets a name, as long as its clock does not go back meanwhile.
// docs/engines/mongodb.md says what is kept, and what write concern and fail-over mean.
//
// Beyond the errors of LeaseStore: conflict, if a document that is not a lock has the name.
//
//   auto store = MongoStore::open({.uri = "mongodb://db.example", .database = "app"});
//   LockProvider provider(*std::move(store));
class MongoStore final : public store::LeaseStore {
 public:
  // For tests: the time by which leases are judged instead of the server's.
  using Time = std::function<std::chrono::milliseconds()>;

  // Options that cannot be are an error. Connects when it is first used: a server that is not there
  // yet is ErrorCode::unavailable then.
  [[nodiscard]] static base::Result<std::unique_ptr<MongoStore>> open(MongoOptions options,
                                                                      Time time = {});
  ~MongoStore() override;

  [[nodiscard]] store::Capabilities capabilities() const override;
  [[nodiscard]] store::LeaseDefaults lease_defaults() const override;

 private:
  class Engine;

  explicit MongoStore(std::unique_ptr<Engine> engine);

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

  std::unique_ptr<Engine> engine_;
};

}  // namespace holdfast::engines::mongodb
