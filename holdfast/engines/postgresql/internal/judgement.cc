#include <holdfast/engines/postgresql/internal/judgement.h>

#include <string>

#include <holdfast/base/printable.h>

namespace holdfast::engines::postgresql::internal {

namespace {

using store::Finding;
using Level = Finding::Level;

constexpr std::int64_t kLeastVersion = 140'000;

}  // namespace

Finding judge_version(std::string_view version, std::int64_t number) {
  const std::string text = "PostgreSQL " + base::printable(version);
  if (number < kLeastVersion) {
    return {"version", Level::bad, text + ": Holdfast needs 14 or later"};
  }
  return {"version", Level::good, text};
}

Finding judge_pooler(bool is_direct) {
  if (is_direct) {
    return {"pooler", Level::good, "none: releases notify waiters"};
  }
  return {"pooler", Level::warning,
          "a pooler such as PgBouncer is in between: locks work, but waiters are not notified and "
          "poll; give them the server's own address"};
}

Finding judge_durability(std::string_view fsync, std::string_view pages) {
  if (fsync == "on" && pages == "on") {
    return {"durability", Level::good, "fsync and full_page_writes are on"};
  }
  return {"durability", Level::bad,
          (fsync == "on" ? std::string("full_page_writes") : std::string("fsync")) +
              " is off: a crash of the machine may damage the table of locks; set it to on"};
}

Finding judge_replication(std::int64_t standbys, std::string_view synchronous) {
  if (!synchronous.empty()) {
    return {"replication", Level::good,
            "a synchronous standby (" + base::printable(synchronous) +
                "): a fail-over forgets no lock"};
  }
  if (standbys == 0) {
    return {"replication", Level::good, "no standby: locks are as available as this server"};
  }
  return {"replication", Level::warning,
          std::to_string(standbys) +
              " asynchronous: a fail-over may forget the locks of the last moment, and two hold "
              "one; set synchronous_standby_names, or let the resource check tokens"};
}

Finding judge_commit(std::string_view synchronous_commit, PostgresOptions::Commit commit) {
  if (commit == PostgresOptions::Commit::off || synchronous_commit == "off") {
    return {"synchronous_commit", Level::warning,
            "off: a crash of the server may forget the locks of its last moment, and two hold one"};
  }
  return {"synchronous_commit", Level::good, base::printable(synchronous_commit)};
}

Finding judge_vacuum(std::string_view autovacuum, std::int64_t dead, std::int64_t live) {
  constexpr std::int64_t kMany = 100'000;
  const std::string rows = std::to_string(live) + " rows, " + std::to_string(dead) + " dead";
  if (autovacuum != "on") {
    return {"autovacuum", Level::warning,
            "off: the table of locks grows with every change (" + rows + "); set it to on"};
  }
  if (dead > kMany && dead > 10 * live) {
    return {"autovacuum", Level::warning,
            "the table of locks has " + rows +
                ": a transaction that has been open for long keeps them; look for it in "
                "pg_stat_activity"};
  }
  return {"autovacuum", Level::good, rows};
}

}  // namespace holdfast::engines::postgresql::internal
