#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/log.h>

namespace holdfast::engines::postgresql {

// The address of a PostgreSQL server, and how to lock there. parse_postgres_url() makes it from a
// URL.
struct PostgresOptions {
  // The address for libpq: postgresql://user@host/database with its own options, or
  // `host=… dbname=…`. The first of several hosts that accepts writes is used. libpq takes the rest
  // from its environment (PGHOST, PGPASSWORD, ~/.pgpass, …).
  std::string conninfo = "postgresql://localhost";

  // The schema that has the tables and functions; made when it is first needed.
  std::string schema = "holdfast";
  // Comes before every name and every type of objects, so that several fleets can share a schema.
  std::string prefix{};
  // The time for which a name that is not in use, or an erased object, remembers its last token. At
  // least a second.
  base::Duration retention = std::chrono::hours(1);

  // `as_configured`: a grant is on the server's disk, and on a synchronous standby, before the
  // caller has it, as the server's synchronous_commit says. `off` is faster, and a crash of the
  // server may forget the grants of its last moment.
  enum class Commit : std::uint8_t { as_configured, off };
  Commit commit = Commit::as_configured;

  // The longest time that an attempt to connect to one host may take. Positive.
  base::Duration connect_timeout = std::chrono::seconds(1);
  // A server that owes an answer for this long counts as dead. Also how long an operation without a
  // deadline goes on trying. Positive.
  base::Duration reply_timeout = std::chrono::seconds(5);
  // The most connections at a time, beside the one that listens; a call that finds none free waits.
  // Positive.
  std::size_t max_connections = 8;

  base::Logger logger{};
};

}  // namespace holdfast::engines::postgresql
