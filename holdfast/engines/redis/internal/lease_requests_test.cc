#include <holdfast/engines/redis/internal/lease_requests.h>

#include <atomic>
#include <variant>

#include <tests/support/patience.h>

#include <holdfast/engines/redis/internal/connection_testing.h>

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

// A store that watches "job", which somebody has, and a claim that is refused and waits.
class LeaseRequestsTest : public ::testing::Test {
 protected:
  LeaseRequestsTest() {
    EXPECT_TRUE(is_granted(claim(holder_)));
    watch_ = requests_.watches.add("job", [](const auto&) {});
    EXPECT_TRUE(tests::eventually([&] { return !requests_.watches.waits_as("job").empty(); }));
    const auto refused = claim(waiting_);
    EXPECT_TRUE(refused && std::get<store::Busy>(*refused).pending);
    EXPECT_FALSE(requests_.queued.is_empty());
  }

  template <class T>
  base::Result<T> run(const Request<T>& request) {
    return request.read(requests_.connection->call(request.command, patience()));
  }
  static bool is_granted(const base::Result<store::ClaimOutcome>& outcome) {
    return outcome && std::holds_alternative<store::Grant>(*outcome);
  }
  base::Result<store::ClaimOutcome> claim(const store::Claim& claim) {
    return run(requests_.claim(name_, claim));
  }
  base::Result<store::TransferOutcome> hand_over(const base::LeaseId& from,
                                                 const store::Claim& to) {
    return run(requests_.transfer(name_, from, to));
  }
  // A claim whose request ends with this error.
  void fail_with(ErrorCode code, const store::Claim& claim) {
    EXPECT_FALSE(requests_.claim(name_, claim).read(base::fail(code, "no answer")));
  }

  const tests::RedisServer server_;
  LeaseRequests requests_{options_for(server_), {}};
  const base::Name name_ = base::value_or_throw(base::Name::make("job"));
  const store::Claim holder_ = wish();
  const store::Claim waiting_ = wish();
  store::Watch watch_;
};

TEST_F(LeaseRequestsTest, AClaimThatIsGrantedLeavesTheQueue) {
  EXPECT_TRUE(requests_.connection->call(Command("DEL", "job"), patience()));
  EXPECT_TRUE(is_granted(claim(waiting_)));
  EXPECT_TRUE(requests_.queued.is_empty());
}

TEST_F(LeaseRequestsTest, AClaimThatIsHandedTheNameLeavesTheQueue) {
  const auto granted = hand_over(holder_.id, waiting_);
  ASSERT_TRUE(granted);
  EXPECT_TRUE(std::holds_alternative<store::Grant>(*granted));
  EXPECT_TRUE(requests_.queued.is_empty());
}

TEST_F(LeaseRequestsTest, AClaimThatIsNotHandedTheNameStaysInTheQueue) {
  store::Claim of_another_kind = waiting_;
  of_another_kind.permits = store::Permits::of(1, 2);
  EXPECT_FALSE(hand_over(holder_.id, of_another_kind));
  EXPECT_FALSE(requests_.queued.is_empty());
  const auto lost = hand_over(base::LeaseId::generate(), waiting_);
  ASSERT_TRUE(lost);
  EXPECT_TRUE(std::holds_alternative<store::Lost>(*lost));
  EXPECT_FALSE(requests_.queued.is_empty());
}

TEST_F(LeaseRequestsTest, AClaimThatWouldHandOnWhatItDoesNotHaveLeavesTheQueue) {
  const auto lost = hand_over(waiting_.id, wish());
  ASSERT_TRUE(lost);
  EXPECT_TRUE(std::holds_alternative<store::Lost>(*lost));
  EXPECT_TRUE(requests_.queued.is_empty());
}

TEST_F(LeaseRequestsTest, AClaimThatWaitsNoLongerLeavesTheQueue) {
  store::Claim last = waiting_;
  last.waits = false;
  const auto refused = claim(last);
  EXPECT_TRUE(refused && !std::get<store::Busy>(*refused).pending);
  EXPECT_TRUE(requests_.queued.is_empty());
}

// The notice comes before the answer to the claim was read.
TEST_F(LeaseRequestsTest, AClaimThatWaitsOnceMoreIsGivenTheName) {
  std::atomic<bool> is_given = false;
  const auto watch = requests_.watches.add(
      "job", [&](const auto& notice) { is_given = notice.granted == waiting_.id; });
  store::Claim last = waiting_;
  last.waits = false;
  EXPECT_TRUE(claim(last));
  const auto once_more = requests_.claim(name_, waiting_);
  EXPECT_TRUE(requests_.connection->call(once_more.command, patience()));
  EXPECT_TRUE(run(requests_.release(name_, holder_.id)));
  EXPECT_TRUE(tests::eventually([&] { return is_given.load(); }));
}

TEST_F(LeaseRequestsTest, AClaimThatNeverReachedTheServerIsNotInTheQueue) {
  requests_.queued.remove("job", waiting_.id);
  fail_with(ErrorCode::unavailable, waiting_);
  EXPECT_TRUE(requests_.queued.is_empty());
}

TEST_F(LeaseRequestsTest, AClaimThatMayHaveReachedTheServerMayBeInTheQueue) {
  requests_.queued.remove("job", waiting_.id);
  fail_with(ErrorCode::unknown_outcome, waiting_);
  EXPECT_FALSE(requests_.queued.is_empty());
}

TEST_F(LeaseRequestsTest, AClaimThatWasRefusedBeforeStaysInTheQueue) {
  fail_with(ErrorCode::unavailable, waiting_);
  EXPECT_FALSE(requests_.queued.is_empty());
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
