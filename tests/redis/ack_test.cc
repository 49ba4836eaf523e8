// Grants that count once replicas have them.

#include <array>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include <tests/redis/redis_test.h>

#include <holdfast/engines/redis/redis_repository.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/store/async_lease_store.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::Deadline;
using base::ErrorCode;
using store::Claim;
using store::Grant;

// A master with two replicas that are in step.
class Acknowledgement : public RedisTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(eventually([&] {
      const std::string info = run({"INFO", "replication"});
      const std::size_t first = info.find("state=online");
      return first != std::string::npos &&
             info.find("state=online", first + 1) != std::string::npos;
    }));
  }

  static RedisServer::Options replica_of(const RedisServer& master) {
    return {.arguments = {"--replicaof", "127.0.0.1", std::to_string(master.port())}};
  }
  // Returns how many replicas have this value at the name.
  std::size_t replicas_with(const std::string& name, const std::string& value) const {
    std::size_t count = 0;
    for (const RedisServer& replica : replicas_) {
      count += RedisClient(replica.port()).run({"GET", name}) == value ? 1U : 0U;
    }
    return count;
  }
  std::unique_ptr<store::LeaseStore> open(std::uint32_t ack, base::Duration ack_timeout) const {
    return base::value_or_throw(engines::redis::open_store(
        {.host = "127.0.0.1", .port = server_.port(), .ack = ack, .ack_timeout = ack_timeout}));
  }

  const std::array<RedisServer, 2> replicas_{RedisServer(replica_of(server_)),
                                             RedisServer(replica_of(server_))};
};

// The outcome of a claim through the seam that does not block.
base::Result<store::ClaimOutcome> claim_without_blocking(store::LeaseStore& store,
                                                         std::string_view name, const Claim& claim,
                                                         Deadline deadline) {
  std::promise<base::Result<store::ClaimOutcome>> outcome;
  store.async()->claim(name, claim, deadline, [&](base::Result<store::ClaimOutcome> answer) {
    outcome.set_value(answer);
  });
  return outcome.get_future().get();
}

TEST_F(Acknowledgement, AGrantIsAtTheReplicasWhenTheClaimReturns) {
  const auto store = open(2, 1min);
  for (int i = 0; i < 50; ++i) {
    const std::string name = "job " + std::to_string(i);
    const Claim claim = wish();
    if (i % 2 == 0) {
      expect<Grant>(store->claim(name, claim));
    } else {
      expect<Grant>(claim_without_blocking(*store, name, claim, Deadline::never()));
    }
    EXPECT_EQ(replicas_with(name, to_string(claim.id)), 2U);
  }
}

TEST_F(Acknowledgement, AGrantThatTooFewReplicasHaveInTimeIsReleased) {
  replicas_[0].suspend();
  const auto one = open(1, 1min);
  expect<Grant>(one->claim("one is enough", wish()));
  const auto two = open(2, 100ms);
  for (int i = 0; i < 2; ++i) {
    const Claim claim = wish();
    const auto refused = i == 0 ? two->claim("job", claim)
                                : claim_without_blocking(*two, "job", claim, Deadline::never());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
    EXPECT_TRUE(refused.error().message.contains("1 of the 2 replicas")) << refused.error().message;
    EXPECT_EQ(run({"EXISTS", "job"}), "0");
  }
  replicas_[0].resume();
  EXPECT_TRUE(eventually([&] { return two->claim("job", wish()).has_value(); }));
}

TEST_F(Acknowledgement, AGrantWhoseDeadlineComesBeforeTheReplicasIsReleased) {
  replicas_[0].suspend();
  const auto store = open(2, 1h);
  const auto soon = [] { return Deadline::after(base::steady_clock(), 300ms); };
  for (int i = 0; i < 2; ++i) {
    const auto refused = i == 0 ? store->claim("job", wish(), soon())
                                : claim_without_blocking(*store, "job", wish(), soon());
    ASSERT_FALSE(refused);
    // On a machine that is too busy for the answer to the release: unknown_outcome.
    EXPECT_TRUE(refused.error().code == ErrorCode::unavailable ||
                refused.error().code == ErrorCode::unknown_outcome);
    EXPECT_TRUE(eventually([&] { return run({"EXISTS", "job"}) == "0"; }));
  }
  replicas_[0].resume();
  expect<Grant>(store->claim("job", wish()));
}

// The first keeps the others waiting until the time of the second is over.
TEST_F(Acknowledgement, AnImpatientClaimTakesNoTimeFromOthers) {
  replicas_[0].suspend();
  const auto store = open(2, 1min);
  using Outcome = base::Result<store::ClaimOutcome>;
  std::array<std::promise<Outcome>, 3> answers;
  const auto claim = [&](std::size_t i, Deadline deadline) {
    store->async()->claim("job " + std::to_string(i), wish(), deadline,
                          [&, i](Outcome outcome) { answers.at(i).set_value(std::move(outcome)); });
  };
  claim(0, Deadline::after(base::steady_clock(), 1s));
  ASSERT_TRUE(eventually([&] { return calls("wait") > 0; }));
  claim(1, Deadline::after(base::steady_clock(), 300ms));
  claim(2, Deadline::never());
  EXPECT_FALSE(answers[0].get_future().get());
  EXPECT_FALSE(answers[1].get_future().get());
  replicas_[0].resume();
  EXPECT_TRUE(answers[2].get_future().get());
}

TEST_F(Acknowledgement, ATransferThatTooFewReplicasHaveIsNotKnownToHaveFailed) {
  const auto store = open(2, 100ms);
  const Claim first = wish();
  ASSERT_TRUE(eventually([&] { return store->claim("job", first).has_value(); }));
  replicas_[0].suspend();
  const Claim second = wish();
  const auto unknown = store->transfer("job", first.id, second);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(run({"GET", "job"}), to_string(second.id));
  replicas_[0].resume();
  EXPECT_TRUE(eventually([&] {
    const auto again = store->transfer("job", first.id, second);
    return again && std::holds_alternative<Grant>(*again);
  }));
}

TEST_F(Acknowledgement, GrantsAtTheSameTimeWaitTogether) {
  constexpr int kThreads = 8;
  constexpr int kClaims = 25;
  const auto store = open(2, 1min);
  std::vector<std::future<void>> callers;
  for (int thread = 0; thread < kThreads; ++thread) {
    callers.push_back(std::async(std::launch::async, [&store, thread] {
      for (int i = 0; i < kClaims; ++i) {
        const Claim claim = wish();
        const std::string name = "job " + std::to_string(thread);
        expect<Grant>(store->claim(name, claim));
        EXPECT_EQ(base::value_or_throw(store->release(name, claim.id)),
                  store::ReleaseOutcome::released);
      }
    }));
  }
  for (std::future<void>& caller : callers) {
    caller.get();
  }
  EXPECT_LT(calls("wait"), kThreads * kClaims);
  EXPECT_GT(calls("wait"), 0);
}

TEST_F(Acknowledgement, AWaiterIsServedOnceReplicasHaveItsGrant) {
  locks::LockProvider provider(open(2, 1min));
  locks::LockProvider other(open(2, 1min));
  locks::Lock lock = provider.acquire("job", {.ttl = 10min});
  auto waiting =
      std::async(std::launch::async, [&] { return other.acquire("job", {.ttl = 10min}); });
  ASSERT_TRUE(eventually([&] { return other.waiting() == 1; }));
  EXPECT_EQ(lock.release(), store::ReleaseOutcome::released);
  const locks::Lock next = waiting.get();
  EXPECT_EQ(replicas_with("job", to_string(next.id())), 2U);
}

TEST_F(Acknowledgement, AStoreThatEndsAnswersWhatWaitsForReplicas) {
  replicas_[0].suspend();
  auto store = open(2, 1h);
  std::promise<base::Result<store::ClaimOutcome>> outcome;
  store->async()->claim(
      "job", wish(), Deadline::never(),
      [&](base::Result<store::ClaimOutcome> answer) { outcome.set_value(std::move(answer)); });
  ASSERT_TRUE(eventually([&] { return run({"INFO", "clients"}).contains("blocked_clients:1"); }));
  store.reset();
  EXPECT_FALSE(outcome.get_future().get());
  replicas_[0].resume();
}

TEST(AcknowledgementOfObjects, IsRefusedBecauseItIsForLocks) {
  const auto repository = engines::redis::open_repository({.ack = 1});
  ASSERT_FALSE(repository);
  EXPECT_EQ(repository.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace holdfast::tests
