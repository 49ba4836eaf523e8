#include <future>
#include <optional>

#include <tests/redis/redis_test.h>
#include <tests/support/cutting_proxy.h>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::AcquireOptions;
using locks::Lock;
using locks::LockProvider;

// Tests of a lock provider over a server that fails.
class Faults : public ::testing::Test {
 protected:
  void start(std::vector<std::string> arguments = {}) {
    server_.emplace(RedisServer::Options{.arguments = std::move(arguments)});
    provider_.emplace(open_store(server_->port()));
  }
  LockProvider& provider() { return *provider_; }
  std::string run(const std::vector<std::string>& words) {
    return RedisClient(server_->port()).run(words);
  }
  static bool is_lost(const Lock& lock) { return lock.lost().stop_requested(); }
  // The token of a grant by somebody else, once the name can be had.
  base::FencingToken token_of_next(const std::string& name) {
    std::optional<base::FencingToken> token;
    EXPECT_TRUE(eventually([&] {
      auto next = provider().try_acquire(name);
      if (next && *next) {
        token = (*next)->token();
      }
      return token.has_value();
    }));
    return token.value_or(base::FencingToken(0));
  }

  std::optional<RedisServer> server_;
  std::optional<LockProvider> provider_;
};

// Longer than a test takes.
AcquireOptions lasting() { return {.ttl = 10min}; }
// Its end is waited for.
AcquireOptions brief() { return {.ttl = 500ms}; }

TEST_F(Faults, AServerThatIsNotThereYetIsUsedWhenItIs) {
  start();
  server_->kill();
  LockProvider early(open_store(server_->port()));
  EXPECT_EQ(early.look("job").error().code, ErrorCode::unavailable);
  server_->restart();
  EXPECT_TRUE(eventually([&] { return early.look("job").has_value(); }));
}

TEST_F(Faults, WhenTheServerHasEndedTheLockIsLostByItsOwnDeadline) {
  start();
  const Lock lock = provider().acquire("job", brief());
  server_->kill();
  EXPECT_TRUE(eventually([&] { return is_lost(lock); }));
  EXPECT_FALSE(lock.check());
}

TEST_F(Faults, AServerThatComesBackWithItsDataHasOurLocks) {
  start({"--appendonly", "yes", "--appendfsync", "always"});
  Lock lock = provider().acquire("job", lasting());
  server_->restart();
  ASSERT_TRUE(eventually([&] {
    const auto renewed = provider().renew("job", lock.id(), 10min);
    return renewed && *renewed == store::RenewOutcome::renewed;
  }));
  EXPECT_FALSE(is_lost(lock));
  const base::FencingToken token = lock.token();
  EXPECT_EQ(lock.release(), store::ReleaseOutcome::released);
  EXPECT_GT(token_of_next("job"), token);
}

TEST_F(Faults, AServerThatComesBackEmptyHasLostOurLocksAndTokensStillGrow) {
  start();
  const Lock lock = provider().acquire("job", {.ttl = 3s});
  const base::FencingToken token = lock.token();
  server_->restart();
  EXPECT_GT(token_of_next("job"), token);
  EXPECT_TRUE(eventually([&] { return is_lost(lock); }));
}

TEST_F(Faults, FlushedDataIsALostLockAndTokensStillGrow) {
  start();
  const Lock lock = provider().acquire("job", {.ttl = 1s});
  const base::FencingToken token = lock.token();
  EXPECT_EQ(run({"FLUSHALL"}), "OK");
  EXPECT_TRUE(eventually([&] { return is_lost(lock); }));
  EXPECT_GT(token_of_next("job"), token);
}

TEST_F(Faults, ForgottenScriptsAreNotNoticed) {
  start();
  for (int round = 0; round < 3; ++round) {
    Lock lock = provider().acquire("job", lasting());
    EXPECT_EQ(run({"SCRIPT", "FLUSH"}), "OK");
    EXPECT_EQ(provider().renew("job", lock.id(), 10min), store::RenewOutcome::renewed);
    EXPECT_EQ(run({"SCRIPT", "FLUSH"}), "OK");
    EXPECT_EQ(lock.release(), store::ReleaseOutcome::released);
    EXPECT_EQ(run({"SCRIPT", "FLUSH"}), "OK");
  }
}

TEST_F(Faults, OnAHangingServerNothingHangs) {
  start();
  const Lock lock = provider().acquire("job", brief());
  server_->suspend();
  const auto attempt = provider().try_acquire("other", {.ttl = 1s, .wait = 100ms});
  ASSERT_FALSE(attempt);
  EXPECT_TRUE(attempt.error().code == ErrorCode::unknown_outcome ||
              attempt.error().code == ErrorCode::unavailable);
  EXPECT_TRUE(eventually([&] { return is_lost(lock); }));
  server_->resume();
  EXPECT_GT(token_of_next("job"), lock.token());
  token_of_next("other");  // what the attempt may have left behind ends with its ttl
}

TEST_F(Faults, CutConnectionsAreNotNoticedByWhoHoldsAndWhoWaits) {
  start();
  Lock lock = provider().acquire("job", lasting());
  LockProvider other(open_store(server_->port()));
  auto waiting =
      std::async(std::launch::async, [&] { return other.acquire("job", lasting()).token(); });
  ASSERT_TRUE(eventually([&] { return other.waiting() == 1; }));
  for (int round = 0; round < 3; ++round) {
    run({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"});
    run({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    EXPECT_TRUE(eventually([&] {
      const auto renewed = provider().renew("job", lock.id(), 10min);
      return renewed && *renewed == store::RenewOutcome::renewed;
    }));
  }
  EXPECT_FALSE(is_lost(lock));
  const base::FencingToken token = lock.token();
  EXPECT_TRUE(eventually([&] { return lock.release().has_value(); }));
  EXPECT_GT(waiting.get(), token);
}

TEST_F(Faults, WaitersGetTheNameThoughTheServerCannotTellThem) {
  start({"--client-output-buffer-limit", "pubsub 1 1 1"});
  for (int round = 0; round < 3; ++round) {
    LockProvider other(open_store(server_->port()));
    Lock lock = provider().acquire("job", lasting());
    auto waiting =
        std::async(std::launch::async, [&] { return other.acquire("job", lasting()).token(); });
    ASSERT_TRUE(eventually([&] { return other.waiting() == 1; }));
    const base::FencingToken token = lock.token();
    EXPECT_TRUE(lock.release());
    EXPECT_GT(waiting.get(), token);
  }
}

TEST_F(Faults, AGrantWhoseReplyIsLostIsStillOurs) {
  start();
  CuttingProxy proxy(server_->port());
  LockProvider cut(open_store(proxy.port()));
  (void)cut.acquire("other", lasting());  // the scripts are known now
  proxy.lose_next_reply();
  const Lock lock = cut.acquire("job", {.ttl = 10min, .wait = 1min});
  EXPECT_EQ(proxy.lost(), 1U);
  const auto state = base::value_or_throw(provider().look("job"));
  ASSERT_TRUE(state);
  EXPECT_EQ(state->holders.at(0).id, lock.id());
  EXPECT_EQ(state->holders.at(0).token, lock.token());
}

TEST_F(Faults, AReleaseWhoseReplyIsLostIsUnknownAndHasFreedTheName) {
  start();
  CuttingProxy proxy(server_->port());
  LockProvider cut(open_store(proxy.port()));
  (void)cut.acquire("other", lasting());
  Lock lock = cut.acquire("job", lasting());
  proxy.lose_next_reply();
  const auto outcome = lock.release();
  EXPECT_TRUE(outcome || outcome.error().code == ErrorCode::unknown_outcome);
  EXPECT_TRUE(eventually([&] { return !base::value_or_throw(provider().is_locked("job")); }));
}

}  // namespace
}  // namespace holdfast::tests
