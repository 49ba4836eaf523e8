// Through PgBouncer, which gives each statement another session.

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <tests/postgresql/postgres_test.h>
#include <tests/support/differential.h>
#include <tests/support/pgbouncer.h>

#include <holdfast/engines/postgresql/postgres_diagnosis.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using engines::postgresql::PostgresOptions;

class Pooler : public PostgresTest {
 protected:
  // Starts it in this thread: it would end with that of a test.
  Pooler() { static_cast<void>(bouncer()); }

  static const PgBouncer& bouncer() {
    static const PgBouncer kBouncer(server());
    return kBouncer;
  }
  [[nodiscard]] PostgresOptions pooled() const {
    return {.conninfo = bouncer().url(), .schema = schema_, .connect_timeout = kPatientConnect};
  }
};

TEST_F(Pooler, TheFunctionsDoWhatTheRulesSayThereToo) {
  const Restatement pooled_store{
      .open =
          [&](const std::string& history, Restatement::Time time) {
            PostgresOptions options = pooled();
            options.prefix = history;
            return base::value_or_throw(engines::postgresql::open_store(options, std::move(time)));
          },
      .names = {"a", "b", "c"},
      .forget = [](const std::string&, std::string_view) {}};
  EXPECT_EQ(differences(pooled_store, 4'000), std::vector<std::string>());
}

TEST_F(Pooler, ManyThreadsShareFewSessions) {
  locks::LockProvider provider(opened(pooled()));
  constexpr int kThreads = 16;
  constexpr int kRounds = 20;
  int unprotected = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < kRounds; ++round) {
          const auto lock = provider.acquire("job");
          ++unprotected;
        }
      });
    }
  }
  EXPECT_EQ(unprotected, kThreads * kRounds);
}

TEST_F(Pooler, AWaiterInAnotherProcessPollsAndIsServed) {
  locks::LockProvider here(opened(pooled()));
  locks::LockProvider there(opened(pooled()));
  locks::Lock lock = here.acquire("job");
  std::atomic<bool> has_it = false;
  std::jthread waiter([&] {
    const auto mine = there.acquire("job");
    has_it = true;
  });
  ASSERT_TRUE(eventually([&] { return in_queue() == 1; }));
  EXPECT_TRUE(lock.release());
  EXPECT_TRUE(eventually([&] { return has_it.load(); }));
}

TEST_F(Pooler, IsDetectedAndSaid) {
  const auto store = opened(pooled());
  EXPECT_FALSE(base::value_or_throw(store->look("job")));
  EXPECT_FALSE(store->capabilities().push);
  bool is_found = false;
  for (const auto& finding : base::value_or_throw(engines::postgresql::diagnose(pooled()))) {
    if (finding.name == "pooler") {
      is_found = true;
      EXPECT_EQ(finding.level, store::Finding::Level::warning);
    }
  }
  EXPECT_TRUE(is_found);
}

}  // namespace
}  // namespace holdfast::tests
