// A primary that dies, and a streaming standby that is promoted.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <tests/postgresql/postgres_test.h>

#include <holdfast/engines/postgresql/postgres_diagnosis.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::Lock;
using locks::LockProvider;
using store::Claim;
using store::Grant;

struct Granted {
  std::string name;
  base::LeaseId id;
  base::FencingToken token;
};

class FailOver : public ::testing::Test {
 protected:
  enum class Standby { synchronous, asynchronous };

  void start(Standby kind) {
    std::vector<std::string> arguments;
    if (kind == Standby::synchronous) arguments = {"-c", "synchronous_standby_names=*"};
    primary_.emplace(PostgresServer::Options{.arguments = arguments});
    standby_.emplace(PostgresServer::Options{.primary = &*primary_});
    PostgresClient client(primary_->conninfo());
    ASSERT_TRUE(eventually([&] {
      return client.ask("SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'") ==
             (kind == Standby::synchronous ? "sync" : "async");
    }));
  }

  // The addresses of both, of which the first that accepts writes is used.
  [[nodiscard]] std::string url_of_both() const {
    return primary_->url() + "," + standby_->folder();
  }
  [[nodiscard]] static std::unique_ptr<store::LeaseStore> store_at(const std::string& url) {
    return opened({.conninfo = url, .connect_timeout = kPatientConnect});
  }

  // Claims names in several threads. In the middle of that the standby is disconnected, and then
  // the primary dies. Returns what was granted.
  std::vector<Granted> grants_until_the_primary_dies() {
    const auto store = store_at(url_of_both());
    base::value_or_throw(store->look("makes the schema"));
    std::mutex mutex;
    std::vector<Granted> all;
    std::atomic<bool> is_dead = false;
    const auto count = [&] {
      const std::lock_guard guard(mutex);
      return all.size();
    };
    {
      std::vector<std::jthread> threads;
      for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
          for (int i = 0; !is_dead; ++i) {
            const std::string name = std::to_string(thread) + "/" + std::to_string(i);
            const Claim claim = wish();
            const auto outcome = store->claim(name, claim);
            if (outcome && std::holds_alternative<Grant>(*outcome)) {
              const std::lock_guard guard(mutex);
              all.push_back({name, claim.id, std::get<Grant>(*outcome).token});
            }
          }
        });
      }
      EXPECT_TRUE(eventually([&] { return count() >= 300; }));
      standby_->stop();
      const std::size_t before = count();
      PostgresClient client(primary_->conninfo());
      // From now on a grant waits for the standby, unless that is asynchronous.
      EXPECT_TRUE(eventually([&] {
        return count() >= before + 300 ||
               client.ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") !=
                   "0";
      }));
      primary_->stop();
      is_dead = true;
    }
    return all;
  }

  // Returns how many of these the new primary does not have.
  [[nodiscard]] std::size_t missing(const std::vector<Granted>& all) const {
    const auto store = store_at(standby_->url());
    std::size_t count = 0;
    for (const Granted& granted : all) {
      const auto state = base::value_or_throw(store->look(granted.name));
      const bool is_there = state && state->holders.size() == 1 &&
                            state->holders[0].id == granted.id &&
                            state->holders[0].token == granted.token;
      count += is_there ? 0U : 1U;
    }
    return count;
  }

  void expect_that_all_workers_acquire_again(Standby kind) {
    start(kind);
    constexpr int kWorkers = 8;
    LockProvider provider(store_at(url_of_both()));
    std::atomic<int> after_promotion[kWorkers] = {};
    std::atomic<bool> is_promoted = false;
    std::atomic<bool> is_over = false;
    std::vector<std::jthread> workers;
    for (auto& acquired : after_promotion) {
      workers.emplace_back([&] {
        while (!is_over) {
          const bool counts = is_promoted;
          const auto lock = provider.try_acquire("job", {.ttl = 2s, .wait = 5s});
          if (lock && *lock && counts) ++acquired;
        }
      });
    }
    EXPECT_TRUE(eventually([&] { return provider.is_locked("job").value_or(false); }));
    primary_->stop();
    standby_->promote();
    const auto promoted = std::chrono::steady_clock::now();
    is_promoted = true;
    for (auto& acquired : after_promotion) {
      EXPECT_TRUE(eventually([&] { return acquired > 0; }));
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - promoted;
    RecordProperty("seconds until every worker had the lock", std::to_string(took.count()));
    is_over = true;
  }

  std::optional<PostgresServer> primary_;
  std::optional<PostgresServer> standby_;
};

TEST_F(FailOver, AReadOnlyStandbyIsNotUsedUntilItIsPromoted) {
  start(Standby::asynchronous);
  const auto store = opened(
      {.conninfo = standby_->url(), .connect_timeout = kPatientConnect, .reply_timeout = 2s});
  // On a busy machine the last attempt of a call may end before the server has answered it.
  EXPECT_TRUE(eventually([&] {
    const auto refused = store->claim("job", wish());
    EXPECT_FALSE(refused);
    EXPECT_TRUE(refused || refused.error().code == ErrorCode::unavailable);
    return !refused && refused.error().message.contains("read-only");
  }));
  standby_->promote();
  const Claim claim = wish();
  EXPECT_TRUE(eventually([&] {
    const auto outcome = store->claim("job", claim);
    return outcome && std::holds_alternative<Grant>(*outcome);
  }));
}

TEST_F(FailOver, ADiagnosisSaysWhetherItWouldLoseGrants) {
  for (const Standby kind : {Standby::asynchronous, Standby::synchronous}) {
    start(kind);
    const auto findings =
        base::value_or_throw(engines::postgresql::diagnose({.conninfo = primary_->url()}));
    const auto found = std::ranges::find(findings, "replication", &store::Finding::name);
    ASSERT_NE(found, findings.end());
    EXPECT_EQ(found->level, kind == Standby::synchronous ? store::Finding::Level::good
                                                         : store::Finding::Level::warning)
        << found->detail;
  }
}

TEST_F(FailOver, ToASynchronousStandbyLosesNoGrantedLease) {
  start(Standby::synchronous);
  const std::vector<Granted> granted = grants_until_the_primary_dies();
  standby_->start();
  standby_->promote();
  EXPECT_EQ(missing(granted), 0U) << "of " << granted.size();
}

TEST_F(FailOver, ToAnAsynchronousStandbyMayLoseALockAndTokensStillGrow) {
  start(Standby::asynchronous);
  LockProvider before(store_at(url_of_both()));
  Lock brief = before.acquire("older", {.ttl = 1s});  // its release may be lost, too
  EXPECT_TRUE(brief.release());
  PostgresClient client(primary_->conninfo());
  const std::string written = client.ask("SELECT pg_current_wal_lsn()");
  ASSERT_TRUE(eventually([&] {
    return client.ask("SELECT flush_lsn >= $1::pg_lsn FROM pg_stat_replication", {written}) == "t";
  }));
  standby_->stop();  // it does not receive what is granted now
  const Lock lock = before.acquire("job", {.ttl = 10min});
  const Lock older = before.acquire("older", {.ttl = 10min});
  primary_->stop();
  standby_->start();
  standby_->promote();
  LockProvider after(store_at(standby_->url()));
  EXPECT_EQ(missing({{"job", lock.id(), lock.token()}, {"older", older.id(), older.token()}}), 2U);
  EXPECT_GT(after.acquire("job", {.wait = kPatience}).token(), lock.token());
  EXPECT_GT(after.acquire("older", {.wait = kPatience}).token(), older.token());
}

TEST_F(FailOver, ToASynchronousStandbyLetsAllWorkersAcquireAgain) {
  expect_that_all_workers_acquire_again(Standby::synchronous);
}

TEST_F(FailOver, ToAnAsynchronousStandbyLetsAllWorkersAcquireAgain) {
  expect_that_all_workers_acquire_again(Standby::asynchronous);
}

}  // namespace
}  // namespace holdfast::tests
