// Servers that end, hang, fail over or refuse, and what a store and a provider make of that.

#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tests/postgresql/postgres_test.h>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using engines::postgresql::PostgresOptions;
using locks::Lock;
using locks::LockProvider;
using store::Claim;
using store::Grant;

bool is_lost(const Lock& lock) { return lock.lost().stop_requested(); }

// A server of its own, that writes everything to its disk.
class Faults : public ::testing::Test {
 protected:
  void start(std::vector<std::string> arguments = {}) {
    server_.emplace(PostgresServer::Options{.arguments = std::move(arguments)});
  }
  [[nodiscard]] PostgresOptions options() const { return {.conninfo = server_->url()}; }
  [[nodiscard]] PostgresClient client() const { return PostgresClient(server_->conninfo()); }

  // The token of a grant by somebody else, once the name can be had.
  static base::FencingToken token_of_next(LockProvider& provider, const std::string& name) {
    std::optional<base::FencingToken> token;
    EXPECT_TRUE(eventually([&] {
      auto next = provider.try_acquire(name);
      if (next && *next) {
        token = (*next)->token();
      }
      return token.has_value();
    }));
    return token.value_or(base::FencingToken(0));
  }

  std::optional<PostgresServer> server_;
};

TEST_F(Faults, AServerThatIsNotThereYetIsUsedWhenItIs) {
  start();
  server_->stop();
  const auto store = opened(options());
  const auto early = store->look("job");
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, ErrorCode::unavailable);
  EXPECT_NE(early.error().message.find("PostgreSQL cannot be reached"), std::string::npos);
  server_->start();
  EXPECT_TRUE(eventually([&] { return store->look("job").has_value(); }));
}

TEST_F(Faults, AServerThatRestartsHasOurLocksAndTokensGrow) {
  start();
  LockProvider provider(opened(options()));
  Lock lock = provider.acquire("job", {.ttl = 10min});
  server_->restart();
  ASSERT_TRUE(eventually([&] {
    const auto renewed = provider.renew("job", lock.id(), 10min);
    return renewed && *renewed == store::RenewOutcome::renewed;
  }));
  EXPECT_FALSE(is_lost(lock));
  const base::FencingToken token = lock.token();
  EXPECT_EQ(lock.release(), store::ReleaseOutcome::released);
  EXPECT_GT(token_of_next(provider, "job"), token);
}

TEST_F(Faults, WhenTheServerHasEndedTheLockIsLostByItsOwnDeadline) {
  start();
  LockProvider provider(opened(options()));
  const Lock lock = provider.acquire("job", {.ttl = 500ms});
  server_->stop();
  EXPECT_TRUE(eventually([&] { return is_lost(lock); }));
  EXPECT_FALSE(lock.check());
}

TEST_F(Faults, AnIdleConnectionThatTheServerHasEndedIsNotUsed) {
  start();
  const auto store = opened(options());
  const Claim claim = wish();
  expect<Grant>(store->claim("job", claim));
  for (int round = 0; round < 5; ++round) {
    auto other = client();
    other.change(
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
        "WHERE application_name = 'holdfast'");
    expect<Grant>(store->claim("job", claim));
  }
}

// Holds up every claim, so that its connection can be ended in the middle.
class HeldUp {
 public:
  explicit HeldUp(PostgresClient client) : client_(std::move(client)) {
    client_.change("BEGIN");
    client_.change("LOCK TABLE holdfast.records");
  }
  // Ends the connection of the claim that waits; returns false if there is none.
  bool end_connection() {
    return client_.change(
               "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
               "WHERE application_name = 'holdfast' AND wait_event_type = 'Lock'") > 0;
  }
  void let_go() { client_.change("ROLLBACK"); }

 private:
  PostgresClient client_;
};

TEST_F(Faults, AClaimWhoseConnectionTheServerEndsHasAnUnknownOutcome) {
  start();
  PostgresOptions patient = options();
  patient.reply_timeout = kPatience;
  const auto store = opened(patient);
  base::value_or_throw(store->look("makes the schema"));
  HeldUp held_up(client());
  auto claimed = std::async(std::launch::async, [&] { return store->claim("job", wish()); });
  ASSERT_TRUE(eventually([&] { return held_up.end_connection(); }));
  const auto outcome = claimed.get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::unknown_outcome) << outcome.error().message;
}

TEST_F(Faults, AProviderRepeatsAClaimWhoseConnectionTheServerEnded) {
  start();
  PostgresOptions patient = options();
  patient.reply_timeout = kPatience;
  LockProvider provider(opened(patient));
  base::value_or_throw(provider.is_locked("makes the schema"));
  HeldUp held_up(client());
  auto acquired = std::async(std::launch::async, [&] { return provider.acquire("job"); });
  ASSERT_TRUE(eventually([&] { return held_up.end_connection(); }));
  held_up.let_go();
  const Lock lock = acquired.get();
  const auto state = base::value_or_throw(provider.look("job"));
  ASSERT_TRUE(state);
  ASSERT_EQ(state->holders.size(), 1U);
  EXPECT_EQ(state->holders[0].id, lock.id());
}

TEST_F(Faults, OnAHangingServerNothingHangs) {
  start();
  PostgresOptions impatient = options();
  impatient.reply_timeout = 300ms;
  const auto store = opened(impatient);
  const Claim claim = wish();
  ASSERT_TRUE(eventually([&] { return store->claim("job", claim).has_value(); }));
  server_->suspend();
  const auto claimed = store->claim("other", wish());
  ASSERT_FALSE(claimed);
  EXPECT_EQ(claimed.error().code, ErrorCode::unknown_outcome);
  const auto seen = store->look("job");  // over a connection that cannot be made
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, ErrorCode::unavailable);
  server_->resume();
  EXPECT_TRUE(eventually([&] {
    const auto state = store->look("job");
    return state && *state && (*state)->holders.at(0).id == claim.id;
  }));
}

TEST_F(Faults, AStatementThatTheServerCancelsHasDoneNothing) {
  start();
  const auto store = opened(options());
  expect<Grant>(store->claim("job", wish()));
  auto other = client();
  other.change("ALTER ROLE postgres SET statement_timeout = '100ms'");
  other.change("BEGIN");
  other.change("LOCK TABLE holdfast.records");
  const auto strict = opened(options());
  const auto claimed = strict->claim("job2", wish());
  ASSERT_FALSE(claimed);
  EXPECT_EQ(claimed.error().code, ErrorCode::unavailable);
  EXPECT_NE(claimed.error().message.find("statement_timeout"), std::string::npos);
  other.change("ROLLBACK");
  EXPECT_EQ(other.ask("SELECT count(*) FROM holdfast.records"), "1");
}

TEST_F(Faults, AServerWithoutAConnectionLeftIsAskedAgain) {
  start({"-c", "max_connections=5", "-c", "superuser_reserved_connections=0"});
  std::vector<PostgresClient> others;
  for (int i = 0; i < 5; ++i) {
    others.push_back(client());
  }
  PostgresOptions patient = options();
  patient.reply_timeout = kPatience;
  patient.connect_timeout = kPatience;
  const auto store = opened(patient);
  const auto until = [](base::Duration time) {
    return base::Deadline::after(base::steady_clock(), time);
  };
  const auto refused = store->claim("job", wish(), until(300ms));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  std::jthread later([&] {
    std::this_thread::sleep_for(50ms);
    others.clear();
  });
  expect<Grant>(store->claim("job", wish(), until(kPatience)));
}

TEST_F(Faults, ADeadlockOrASerializationFailureIsTriedAgain) {
  start({"-c", "default_transaction_isolation=serializable"});
  const auto first = opened(options());
  const auto second = opened(options());
  std::vector<std::jthread> threads;
  std::atomic<int> inside = 0;
  for (const auto* const store : {&first, &second}) {
    threads.emplace_back([&inside, store] {
      for (int round = 0; round < 50;) {
        const Claim claim = wish();
        const auto outcome = base::value_or_throw((*store)->claim("job", claim));
        if (std::holds_alternative<Grant>(outcome)) {
          EXPECT_EQ(++inside, 1);
          --inside;
          EXPECT_EQ(base::value_or_throw((*store)->release("job", claim.id)),
                    store::ReleaseOutcome::released);
          ++round;
        }
      }
    });
  }
}

TEST_F(Faults, AllWorkersAcquireAgainAfterARestart) {
  start();
  constexpr int kWorkers = 8;
  std::atomic<int> after_restart[kWorkers] = {};
  std::atomic<bool> has_restarted = false;
  std::atomic<bool> is_over = false;
  std::vector<std::jthread> workers;
  LockProvider provider(opened(options()));
  for (auto& acquired : after_restart) {
    workers.emplace_back([&] {
      while (!is_over) {
        const bool counts = has_restarted;
        const auto lock = provider.try_acquire("job", {.ttl = 1s, .wait = 5s});
        if (lock && *lock && counts) {
          ++acquired;
        }
      }
    });
  }
  ASSERT_TRUE(eventually([&] { return provider.is_locked("job").value_or(false); }));
  server_->restart();
  has_restarted = true;
  for (auto& acquired : after_restart) {
    EXPECT_TRUE(eventually([&] { return acquired > 0; }));
  }
  is_over = true;
}

TEST_F(Faults, ALoginThatIsNotAcceptedIsUnavailableWithoutThePassword) {
  start();
  client().change("CREATE ROLE nobody NOLOGIN");
  std::string url = server_->url();
  url.replace(url.find("postgres@"), 9, "nobody:secret@");
  const auto store = opened({.conninfo = url});
  const auto seen = store->look("job");
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, ErrorCode::unavailable);
  EXPECT_NE(seen.error().message.find("not permitted to log in"), std::string::npos);
  EXPECT_EQ(seen.error().message.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::tests
