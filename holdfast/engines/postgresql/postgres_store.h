#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <holdfast/engines/postgresql/postgres_options.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::engines::postgresql {

// The leases of all machines that share a PostgreSQL server (14 or later), as rows of a schema.
//
// Thread-safe: all threads share a few connections (PostgresOptions::max_connections), each for the
// time of one operation. If somebody watches, a thread with a connection of its own listens. In a
// forked child everything fails with ErrorCode::unsupported.
//
// Each operation is one statement, a transaction of its own, and one round trip, judged by the
// server's clock (clock_timestamp()). It keeps no state in the server's session, so it also works
// through a pooler that pools transactions, such as PgBouncer; waiters then poll. It blocks until
// its deadline; without one, until PostgresOptions::reply_timeout has passed. A server that starts,
// is a standby, or has no connection left is asked again meanwhile.
//
// The schema with its tables and functions is made when it is first needed; one that a newer
// Holdfast has made is left as it is (ErrorCode::unsupported).
//
// A grant is on the server's disk before the caller has it, unless PostgresOptions::commit or the
// server's synchronous_commit says otherwise. docs/engines/postgresql.md says what fail-over means.
//
//   auto store = PostgresStore::open({.conninfo = "postgresql://app@db.example/app"});
//   LockProvider provider(*std::move(store));
class PostgresStore final : public store::LeaseStore {
 public:
  // For tests: the time by which leases are judged instead of the server's.
  using Time = std::function<std::chrono::microseconds()>;

  // Options that cannot be are an error, and so is a missing libpq. Connects when it is first used:
  // a server that is not there yet is ErrorCode::unavailable then.
  [[nodiscard]] static base::Result<std::unique_ptr<PostgresStore>> open(PostgresOptions options,
                                                                         Time time = {});
  ~PostgresStore() override;

  [[nodiscard]] store::Capabilities capabilities() const override;

 private:
  class Engine;

  explicit PostgresStore(std::unique_ptr<Engine> engine);

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

}  // namespace holdfast::engines::postgresql
