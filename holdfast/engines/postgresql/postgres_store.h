#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <holdfast/base/error.h>
#include <holdfast/engines/postgresql/postgres_options.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::engines::postgresql {

// For tests: the time by which leases are judged instead of the server's.
using Time = std::function<std::chrono::microseconds()>;

// Opens a store of the leases of all machines that share a PostgreSQL server (14 or later), as rows
// of a schema. Invalid options are an error, and so is a missing libpq. It connects with the first
// operation: a server that cannot be reached is ErrorCode::unavailable then.
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
//   auto store = postgresql::open_store({.conninfo = "postgresql://app@db.example/app"});
//   LockProvider provider(*std::move(store));
[[nodiscard]] base::Result<std::unique_ptr<store::LeaseStore>> open_store(PostgresOptions options,
                                                                          Time time = {});

}  // namespace holdfast::engines::postgresql
