#include <holdfast/engines/redis/internal/engine.h>

#include <variant>

#include <holdfast/engines/redis/internal/link_testing.h>
#include <holdfast/engines/redis/internal/lua.h>

namespace holdfast::engines::redis::internal {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;

store::Claim wish() {
  return {.id = base::LeaseId::generate(),
          .owner = "somebody",
          .reason = {},
          .ttl = 10min,
          .waits = true};
}

// An engine that watches "job", which somebody has, and a claim that is refused and waits.
class RedisEngine : public ::testing::Test {
 protected:
  RedisEngine() {
    EXPECT_TRUE(is_granted(claim(holder_)));
    watch_ = engine_.watchers.add("job", [](const auto&) {});
    const auto refused = claim(waiting_);
    EXPECT_TRUE(refused && std::get<store::Busy>(*refused).pending);
    EXPECT_FALSE(engine_.queued.is_empty());
  }

  static bool is_granted(const base::Result<store::ClaimOutcome>& outcome) {
    return outcome && std::holds_alternative<store::Grant>(*outcome);
  }
  base::Result<store::ClaimOutcome> claim(const store::Claim& claim) {
    const Engine::Claiming claiming = engine_.begin_claim(name_, claim);
    return Engine::end_claim(engine_.queued, name_, claim, claiming,
                             engine_.run(lua::kClaim, name_, patience(), [&](Command& command) {
                               Engine::add_claim(command, claim, claiming);
                             }));
  }
  base::Result<store::TransferOutcome> hand_over(const base::LeaseId& from,
                                                 const store::Claim& to) {
    const Engine::Handing handing = engine_.begin_transfer(name_, from, to);
    return Engine::end_transfer(
        engine_.queued, name_, handing,
        engine_.run(lua::kTransfer, name_, patience(),
                    [&](Command& command) { engine_.add_transfer(command, handing); }));
  }
  // A claim whose request ends with this error.
  void fail_with(ErrorCode code, const store::Claim& claim) {
    const Engine::Claiming claiming = engine_.begin_claim(name_, claim);
    EXPECT_FALSE(
        Engine::end_claim(engine_.queued, name_, claim, claiming, base::fail(code, "no answer")));
  }

  const tests::RedisServer server_;
  Engine engine_{options_for(server_), {}};
  const base::Name name_ = base::value_or_throw(base::Name::make("job"));
  const store::Claim holder_ = wish();
  const store::Claim waiting_ = wish();
  store::Watch watch_;
};

TEST_F(RedisEngine, AClaimThatIsGrantedLeavesTheQueue) {
  EXPECT_TRUE(engine_.link->call(Command("DEL", "job"), patience()));
  EXPECT_TRUE(is_granted(claim(waiting_)));
  EXPECT_TRUE(engine_.queued.is_empty());
}

TEST_F(RedisEngine, AClaimThatIsHandedTheNameLeavesTheQueue) {
  const auto granted = hand_over(holder_.id, waiting_);
  ASSERT_TRUE(granted);
  EXPECT_TRUE(std::holds_alternative<store::Grant>(*granted));
  EXPECT_TRUE(engine_.queued.is_empty());
}

TEST_F(RedisEngine, AClaimThatIsNotHandedTheNameStaysInTheQueue) {
  store::Claim of_another_kind = waiting_;
  of_another_kind.permits = store::Permits::of(1, 2);
  EXPECT_FALSE(hand_over(holder_.id, of_another_kind));
  EXPECT_FALSE(engine_.queued.is_empty());
  const auto lost = hand_over(base::LeaseId::generate(), waiting_);
  ASSERT_TRUE(lost);
  EXPECT_TRUE(std::holds_alternative<store::Lost>(*lost));
  EXPECT_FALSE(engine_.queued.is_empty());
}

TEST_F(RedisEngine, AClaimThatWouldHandOnWhatItDoesNotHaveLeavesTheQueue) {
  const auto lost = hand_over(waiting_.id, wish());
  ASSERT_TRUE(lost);
  EXPECT_TRUE(std::holds_alternative<store::Lost>(*lost));
  EXPECT_TRUE(engine_.queued.is_empty());
}

TEST_F(RedisEngine, AClaimThatNeverReachedTheServerIsNotInTheQueue) {
  engine_.queued.remove("job", waiting_.id);
  fail_with(ErrorCode::unavailable, waiting_);
  EXPECT_TRUE(engine_.queued.is_empty());
}

TEST_F(RedisEngine, AClaimThatMayHaveReachedTheServerMayBeInTheQueue) {
  engine_.queued.remove("job", waiting_.id);
  fail_with(ErrorCode::unknown_outcome, waiting_);
  EXPECT_FALSE(engine_.queued.is_empty());
}

TEST_F(RedisEngine, AClaimThatWasRefusedBeforeStaysInTheQueue) {
  fail_with(ErrorCode::unavailable, waiting_);
  EXPECT_FALSE(engine_.queued.is_empty());
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
