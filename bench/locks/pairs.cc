#include <memory>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <sqlite3.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/metrics/prometheus_metrics.h>

#include "bench/locks/workloads.h"

namespace holdfast::bench_locks {

namespace {

// Two updates of one row, each in its own transaction: the least that a lock in SQLite must do.
class BareUpdates {
 public:
  explicit BareUpdates(const std::filesystem::path& file) {
    sqlite3* plain = nullptr;
    if (sqlite3_open(file.c_str(), &plain) != SQLITE_OK) {
      throw std::runtime_error("cannot open " + file.string());
    }
    database_.reset(plain);
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = NORMAL");
    run("CREATE TABLE locks(name TEXT PRIMARY KEY, holder TEXT, expires INTEGER) WITHOUT ROWID");
    run("INSERT INTO locks VALUES ('job', '', 0)");
    begin_ = prepare("BEGIN IMMEDIATE");
    update_ = prepare("UPDATE locks SET holder = ?1, expires = expires + 1 WHERE name = 'job'");
    commit_ = prepare("COMMIT");
  }

  void pair() {
    update("0123456789abcdef0123456789abcdef");
    update("");
  }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  void run(const char* sql) {
    if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(database_.get()));
    }
  }
  Statement prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database_.get(), sql, -1, &statement, nullptr);
    return Statement(statement);
  }
  void step(const Statement& statement) {
    if (sqlite3_step(statement.get()) != SQLITE_DONE) {
      throw std::runtime_error(sqlite3_errmsg(database_.get()));
    }
    sqlite3_reset(statement.get());
  }
  void update(const char* holder) {
    step(begin_);
    sqlite3_bind_text(update_.get(), 1, holder, -1, SQLITE_STATIC);
    step(update_);
    step(commit_);
  }

  std::unique_ptr<sqlite3, Close> database_;
  Statement begin_;
  Statement update_;
  Statement commit_;
};

std::function<void()> pair_on(locks::LockProvider& provider) {
  return [&provider] { base::value_or_throw(provider.acquire("job").release()); };
}

}  // namespace

Report sqlite_pair(Seconds time) {
  const tests::TemporaryFolder folder;
  BareUpdates bare(folder / "bare.db");
  locks::LockProvider provider(
      base::value_or_throw(engines::open_store("sqlite:" + (folder / "locks.db").string())));
  const auto medians = alternate(time, {pair_on(provider), [&] { bare.pair(); }});
  const double ratio = medians[0] / medians[1];
  return {.workload = "L1",
          .about = "SQLite, one caller: acquire + release",
          .rows = {{"holdfast", medians[0] * 1e6, "µs"},
                   {"two bare updates", medians[1] * 1e6, "µs"},
                   {"ratio", ratio, "x"}},
          .targets = {{"at most 1.6 times the bare updates", ratio <= 1.6}}};
}

Report memory_pair(Seconds time) {
  locks::LockProvider provider(base::value_or_throw(engines::open_store("memory:")));
  const auto metrics = metrics::PrometheusMetrics::make();
  locks::LockProvider measured(base::value_or_throw(engines::open_store("memory:")),
                               {.metrics = metrics->hooks()});
  const auto medians = alternate(time, {pair_on(provider), pair_on(measured)});
  const double nanoseconds = medians[0] * 1e9;
  const double overhead = medians[1] / medians[0];
  return {.workload = "L4",
          .about = "memory, one caller: acquire + release through the provider",
          .rows = {{"holdfast", nanoseconds, "ns"},
                   {"with metrics", medians[1] * 1e9, "ns"},
                   {"ratio", overhead, "x"}},
          .targets = {{"metrics: at most 5 %", overhead <= 1.05},
                      {"at most 1 µs", nanoseconds <= 1000},
                      {"stretch: at most 400 ns", nanoseconds <= 400}}};
}

}  // namespace holdfast::bench_locks
