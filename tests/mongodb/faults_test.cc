#include <future>
#include <optional>

#include <tests/mongodb/mongo_test.h>
#include <tests/support/cutting_proxy.h>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::AcquireOptions;
using locks::Lock;
using locks::LockProvider;
using store::Claim;
using store::Grant;
using store::ReleaseOutcome;
using store::RenewOutcome;

// Tests of a lock provider over a server that fails.
class Faults : public ::testing::Test {
 protected:
  void SetUp() override {
    if (mongo_server_is_given()) {
      GTEST_SKIP() << "the server was not started here: it cannot be broken";
    }
    server_.emplace(MongoServer::Options{.own = true});
    provider_.emplace(store_on(*server_));
  }
  LockProvider& provider() { return *provider_; }
  void run(const std::string& command) { MongoClient(server_->url()).run("admin", command); }
  // The next commands of these kinds meet this fault.
  void fail(int times, const std::string& commands, const std::string& data) {
    run(R"({"configureFailPoint": "failCommand", "mode": {"times": )" + std::to_string(times) +
        R"(}, "data": {"failCommands": [)" + commands + "], " + data + "}}");
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

  std::optional<MongoServer> server_;
  std::optional<LockProvider> provider_;
};

// Longer than a test takes.
AcquireOptions lasting() { return {.ttl = 10min}; }
// Its end is waited for.
AcquireOptions brief() { return {.ttl = 500ms}; }

TEST_F(Faults, WhenTheServerHasEndedTheLockIsLostByItsOwnDeadline) {
  const Lock lock = provider().acquire("job", brief());
  server_->kill();
  EXPECT_TRUE(eventually([&] { return is_lost(lock); }));
  EXPECT_FALSE(lock.check());
}

TEST_F(Faults, AServerThatIsBackInTimeIsNotNoticed) {
  if (server_->kind() != MongoServer::Kind::mongod) {
    GTEST_SKIP() << "the stand-in keeps nothing across a restart";
  }
  Lock lock = provider().acquire("job", lasting());
  server_->restart();
  EXPECT_TRUE(eventually([&] {
    const auto renewed = provider().renew("job", lock.id(), 10min);
    return renewed && *renewed == RenewOutcome::renewed;
  }));
  EXPECT_FALSE(is_lost(lock));
}

TEST_F(Faults, AServerThatComesBackEmptyHasLostOurLocksAndTokensStillGrow) {
  if (server_->kind() != MongoServer::Kind::stand_in) {
    GTEST_SKIP() << "only the stand-in forgets everything";
  }
  const Lock lock = provider().acquire("job", {.ttl = 3s});
  const base::FencingToken token = lock.token();
  server_->restart();
  EXPECT_GT(token_of_next("job"), token);
  EXPECT_TRUE(eventually([&] { return is_lost(lock); }));
}

TEST_F(Faults, AServerThatGoesAndComesIsWaitedForWithinTheDeadline) {
  auto store = store_on(*server_);
  expect<Grant>(
      store->claim("other", wish()));  // a server that has never answered is not waited for
  server_->kill();
  auto claimed = std::async(std::launch::async, [&] {
    return store->claim("job", wish(), base::Deadline::after(base::steady_clock(), 1min));
  });
  server_->restart();
  expect<Grant>(claimed.get());
}

TEST_F(Faults, AServerThatStaysAwayIsAnErrorByTheDeadline) {
  auto store = store_on(*server_);
  server_->kill();
  const auto soon = [] { return base::Deadline::after(base::steady_clock(), 300ms); };
  // A request that was sent on the old connection before its end was seen may have arrived.
  const auto claimed = store->claim("job", wish(), soon());
  ASSERT_FALSE(claimed);
  EXPECT_TRUE(claimed.error().code == ErrorCode::unknown_outcome ||
              claimed.error().code == ErrorCode::unavailable);
  const auto again = store->claim("job", wish(), soon());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::unavailable);
}

TEST_F(Faults, OnAHangingServerNothingHangs) {
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

TEST_F(Faults, AGrantWhoseReplyIsLostIsStillOurs) {
  CuttingProxy proxy(server_->port());
  auto options = options_for(*server_);
  options.uri = server_->url_by(proxy.port());
  LockProvider cut(store_on(std::move(options)));
  (void)cut.acquire("other", lasting());
  proxy.lose_next_reply();
  const Lock lock = cut.acquire("job", {.ttl = 10min, .wait = 1min});
  EXPECT_GE(proxy.lost(), 1U);
  const auto state = base::value_or_throw(provider().look("job"));
  ASSERT_TRUE(state);
  ASSERT_EQ(state->holders.size(), 1U);
  EXPECT_EQ(state->holders[0].id, lock.id());
  EXPECT_EQ(state->holders[0].token, lock.token());
}

TEST_F(Faults, ADroppedReplyOfEachKindIsAnsweredAsTheFirstTime) {
  if (server_->kind() != MongoServer::Kind::stand_in) {
    GTEST_SKIP() << "only the stand-in drops replies";
  }
  auto store = store_on(*server_);
  const Claim one = wish();
  fail(1, R"("findAndModify")", R"("dropReply": true)");
  const Grant first = expect<Grant>(store->claim("job", one));
  EXPECT_EQ(expect<Grant>(store->claim("job", one)).token, first.token);
  const Claim two = wish();
  fail(1, R"("findAndModify")", R"("dropReply": true)");
  const Grant second = expect<Grant>(store->transfer("job", one.id, two));
  EXPECT_EQ(expect<Grant>(store->transfer("job", one.id, two)).token, second.token);
  fail(1, R"("update")", R"("dropReply": true)");
  const store::Renewal renewal{.name = "job", .id = two.id, .ttl = 20min};
  EXPECT_EQ(base::value_or_throw(store->renew({&renewal, 1})).at(0), RenewOutcome::renewed);
  fail(1, R"("update")", R"("dropReply": true)");
  EXPECT_EQ(store->release("job", two.id), ReleaseOutcome::released);
  EXPECT_EQ(store->release("job", two.id), ReleaseOutcome::not_held);
  fail(1, R"("findAndModify")", R"("dropReply": true)");
  // The server says that it was done, but not what the window was like.
  const auto hit = store->hit("calls", {.limit = 3, .period = 1min});
  ASSERT_FALSE(hit);
  EXPECT_EQ(hit.error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(base::value_or_throw(store->hit("calls", {.limit = 3, .period = 1min})).remaining, 1U)
      << "counted twice, or not at all";
}

TEST_F(Faults, ADroppedReplyToTheReleaseOfAPermitIsAnsweredAsTheFirstTime) {
  if (server_->kind() != MongoServer::Kind::stand_in) {
    GTEST_SKIP() << "only the stand-in drops replies";
  }
  auto store = store_on(*server_);
  const Claim one = wish(store::Permits::of(1, 2));
  expect<Grant>(store->claim("pool", one));
  expect<Grant>(store->claim("pool", wish(store::Permits::of(1, 2))));
  fail(1, R"("update")", R"("dropReply": true)");
  EXPECT_EQ(store->release("pool", one.id), ReleaseOutcome::released);
}

TEST_F(Faults, NotPrimaryInTheMiddleIsTriedAgainWithTheSameLease) {
  auto store = store_on(*server_);
  const auto soon = [] { return base::Deadline::after(base::steady_clock(), 1min); };
  const Claim claim = wish();
  // More often than the driver itself tries.
  for (const std::string code : {"10107", "11602"}) {
    fail(3, R"("findAndModify", "update")", R"("errorCode": )" + code);
    const Grant grant = expect<Grant>(store->claim("job " + code, claim, soon()));
    const auto state = base::value_or_throw(store->look("job " + code));
    EXPECT_EQ(state->holders.at(0).token, grant.token);
    fail(3, R"("findAndModify", "update")", R"("errorCode": )" + code);
    EXPECT_EQ(store->release("job " + code, claim.id, soon()), ReleaseOutcome::released);
  }
}

TEST_F(Faults, ARouterThatFindsNoPrimaryIsAskedAgain) {
  auto store = store_on(*server_);
  const Claim claim = wish();
  fail(3, R"("findAndModify", "update")", R"("errorCode": 133)");
  expect<Grant>(store->claim("job", claim, base::Deadline::after(base::steady_clock(), 1min)));
  fail(3, R"("findAndModify", "update")", R"("errorCode": 133)");
  EXPECT_EQ(store->release("job", claim.id, base::Deadline::after(base::steady_clock(), 1min)),
            ReleaseOutcome::released);
}

TEST_F(Faults, AServerThatIsNeverPrimaryIsUnavailableByTheDeadline) {
  auto store = store_on(*server_);
  fail(1000, R"("findAndModify")", R"("errorCode": 10107)");
  const auto claimed =
      store->claim("job", wish(), base::Deadline::after(base::steady_clock(), 300ms));
  ASSERT_FALSE(claimed);
  EXPECT_EQ(claimed.error().code, ErrorCode::unavailable);
}

constexpr const char* kTooSlow =
    R"("writeConcernError": {"code": 64, "codeName": "WriteConcernFailed",
       "errmsg": "waiting for replication timed out", "errInfo": {"wtimeout": true}})";

TEST_F(Faults, AWriteConcernTimeOutIsUnknownAndNotFailed) {
  auto store = store_on(*server_);
  fail(1000, R"("findAndModify", "update")", kTooSlow);
  const Claim claim = wish();
  const auto claimed =
      store->claim("job", claim, base::Deadline::after(base::steady_clock(), 300ms));
  ASSERT_FALSE(claimed);
  EXPECT_EQ(claimed.error().code, ErrorCode::unknown_outcome);
  fail(1, R"("ping")", R"("errorCode": 1)");
  // It was done, and the same request says so.
  expect<store::Busy>(store->claim("job", wish()));
  expect<Grant>(store->claim("job", claim));
}

TEST_F(Faults, AWriteConcernTimeOutThatPassesIsTriedAgain) {
  auto store = store_on(*server_);
  fail(2, R"("findAndModify", "update")", kTooSlow);
  const Claim claim = wish();
  expect<Grant>(store->claim("job", claim, base::Deadline::after(base::steady_clock(), 1min)));
  fail(2, R"("findAndModify", "update")", kTooSlow);
  EXPECT_EQ(store->release("job", claim.id, base::Deadline::after(base::steady_clock(), 1min)),
            ReleaseOutcome::released);
}

TEST_F(Faults, AHitWhoseOutcomeIsNotKnownIsNotRepeated) {
  auto store = store_on(*server_);
  fail(1, R"("findAndModify")", kTooSlow);
  const auto hit = store->hit("calls", {.limit = 5, .period = 1min});
  ASSERT_FALSE(hit);
  EXPECT_EQ(hit.error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(base::value_or_throw(store->hit("calls", {.limit = 5, .period = 1min})).hits, 2U);
}

TEST_F(Faults, ARefusalIsFinalAndSaysWhatToDo) {
  auto store = store_on(*server_);
  fail(1, R"("findAndModify")", R"("errorCode": 13)");
  const auto claimed = store->claim("job", wish());
  ASSERT_FALSE(claimed);
  EXPECT_EQ(claimed.error().code, ErrorCode::unavailable);
  EXPECT_NE(claimed.error().message.find("allow"), std::string::npos);
}

// Its own deadline ends it, not the time after which the server counts as dead.
TEST_F(Faults, OnAHangingServerADeadlineIsKept) {
  auto options = options_for(*server_);
  options.reply_timeout = 10min;
  auto store = store_on(std::move(options));
  expect<Grant>(store->claim("other", wish()));
  server_->suspend();
  auto claimed = std::async(std::launch::async, [&] {
    return store->claim("job", wish(), base::Deadline::after(base::steady_clock(), 200ms));
  });
  const bool has_ended = claimed.wait_for(kPatience) == std::future_status::ready;
  server_->resume();
  EXPECT_TRUE(has_ended);
  const auto outcome = claimed.get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::unknown_outcome);
}

TEST_F(Faults, CutConnectionsAreNotNoticedByWhoHoldsAndWhoWaits) {
  CuttingProxy proxy(server_->port());
  auto options = options_for(*server_);
  options.uri = server_->url_by(proxy.port());
  LockProvider holder(store_on(options));
  LockProvider other(store_on(options));
  Lock lock = holder.acquire("job", lasting());
  auto waiting =
      std::async(std::launch::async, [&] { return other.acquire("job", lasting()).token(); });
  ASSERT_TRUE(eventually([&] { return other.waiting() == 1; }));
  for (unsigned round = 1; round <= 3; ++round) {
    proxy.lose_next_reply();
    ASSERT_TRUE(eventually([&] {
      (void)holder.renew("job", lock.id(), 10min);
      return proxy.lost() == round;
    }));
    EXPECT_TRUE(eventually([&] {
      const auto renewed = holder.renew("job", lock.id(), 10min);
      return renewed && *renewed == RenewOutcome::renewed;
    }));
  }
  EXPECT_FALSE(is_lost(lock));
  const base::FencingToken token = lock.token();
  EXPECT_TRUE(eventually([&] { return lock.release().has_value(); }));
  EXPECT_GT(waiting.get(), token);
}

// The server's clock alone judges, wherever it stands.
class ServerClock : public Faults, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    server_.emplace(MongoServer::Options{.must_be_stand_in = true, .own = true});
    provider_.emplace(store_on(*server_));
  }
  void set_clock(std::chrono::minutes ahead) {
    run(R"({"holdfastSetClock": 1, "offsetMS": )" +
        std::to_string(std::chrono::milliseconds(ahead).count()) + "}");
  }
};

TEST_P(ServerClock, ItsOffsetToOursDoesNotMatter) {
  set_clock(std::chrono::minutes(GetParam()));
  LockProvider other(store_on(*server_));
  Lock lock = provider().acquire("job", {.ttl = 1s});
  const auto refused = base::value_or_throw(other.try_acquire("job"));
  EXPECT_FALSE(refused);
  // Past its first ttl by renewal; and free when it is released.
  EXPECT_EQ(provider().renew("job", lock.id(), 2s), RenewOutcome::renewed);
  EXPECT_FALSE(is_lost(lock));
  const base::FencingToken token = lock.token();
  EXPECT_EQ(lock.release(), ReleaseOutcome::released);
  const auto next = base::value_or_throw(other.try_acquire("job", {.ttl = 500ms}));
  ASSERT_TRUE(next);
  EXPECT_GT(next->token(), token);
}

TEST_P(ServerClock, WhenItJumpsTokensStillGrowAndNeverDoTwoHoldByIt) {
  auto store = store_on(*server_);
  const Claim first = wish();
  const Grant before = expect<Grant>(store->claim("job", first));
  set_clock(std::chrono::minutes(GetParam()));
  const auto state = base::value_or_throw(store->look("job"));
  const auto outcome = base::value_or_throw(store->claim("job", wish()));
  if (const Grant* const grant = std::get_if<Grant>(&outcome)) {
    // It went past the end of the lease, which the store says is lost.
    EXPECT_FALSE(state);
    EXPECT_GT(grant->token, before.token);
    const store::Renewal renewal{.name = "job", .id = first.id, .ttl = 10min};
    EXPECT_EQ(base::value_or_throw(store->renew({&renewal, 1})).at(0), RenewOutcome::lost);
  } else {
    EXPECT_EQ(store->release("job", first.id), ReleaseOutcome::released);
    EXPECT_GT(expect<Grant>(store->claim("job", wish())).token, before.token);
  }
}

TEST_P(ServerClock, AReleasedNameIsFreeWhereverItJumps) {
  auto store = store_on(*server_);
  for (const store::Permits permits : {store::Permits::mutex(), store::Permits::of(1, 2)}) {
    set_clock(0min);
    const Claim first = wish(permits);
    const Grant before = expect<Grant>(store->claim("job", first));
    EXPECT_EQ(store->release("job", first.id), ReleaseOutcome::released);
    set_clock(std::chrono::minutes(GetParam()));
    const Claim next = wish(permits);
    EXPECT_GT(expect<Grant>(store->claim("job", next)).token, before.token);
    EXPECT_EQ(store->release("job", next.id), ReleaseOutcome::released);
  }
}

INSTANTIATE_TEST_SUITE_P(AnHour, ServerClock, ::testing::Values(60, -60));

}  // namespace
}  // namespace holdfast::tests
