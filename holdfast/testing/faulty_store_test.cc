#include <holdfast/testing/faulty_store.h>

#include <chrono>
#include <memory>
#include <thread>
#include <variant>

#include <gtest/gtest.h>

#include <holdfast/engines/memory/memory_store.h>

namespace holdfast::testing {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;

class FaultyStoreTest : public ::testing::Test {
 protected:
  static store::Claim wish() {
    return {.id = base::LeaseId::generate(), .owner = "me", .reason = {}, .ttl = 1h};
  }
  bool is_held() { return store_.real().look("job")->has_value(); }
  template <class T>
  static ErrorCode code(const base::Result<T>& result) {
    return result ? ErrorCode::internal : result.error().code;
  }

  FaultyStore store_{std::make_shared<engines::memory::MemoryStore>()};
};

TEST_F(FaultyStoreTest, WithoutAScriptChangesNothing) {
  const store::Claim claim = wish();
  EXPECT_TRUE(store_.claim("job", claim));
  EXPECT_TRUE(is_held());
  EXPECT_EQ(store_.release("job", claim.id), store::ReleaseOutcome::released);
  EXPECT_EQ(store_.calls(Operation::claim), 1U);
  EXPECT_EQ(store_.calls(Operation::release), 1U);
  EXPECT_EQ(store_.capabilities().engine, "memory");
}

TEST_F(FaultyStoreTest, ARefusedCallDoesNothing) {
  store_.refuse(Operation::claim);
  EXPECT_EQ(code(store_.claim("job", wish())), ErrorCode::unavailable);
  EXPECT_FALSE(is_held());
}

TEST_F(FaultyStoreTest, ALostRequestDoesNothing) {
  store_.lose_request(Operation::claim);
  EXPECT_EQ(code(store_.claim("job", wish())), ErrorCode::unknown_outcome);
  EXPECT_FALSE(is_held());
}

TEST_F(FaultyStoreTest, ALostReplyHasItsEffect) {
  const store::Claim claim = wish();
  store_.lose_reply(Operation::claim);
  EXPECT_EQ(code(store_.claim("job", claim)), ErrorCode::unknown_outcome);
  EXPECT_TRUE(is_held());
  EXPECT_TRUE(std::holds_alternative<store::Grant>(*store_.claim("job", claim)));
}

TEST_F(FaultyStoreTest, ADuplicateReturnsTheSecondResult) {
  const store::Claim claim = wish();
  (void)store_.claim("job", claim);
  store_.duplicate(Operation::release);
  EXPECT_EQ(store_.release("job", claim.id), store::ReleaseOutcome::not_held);
  EXPECT_FALSE(is_held());
}

TEST_F(FaultyStoreTest, FaultsComeInTheOrderOfTheScriptAndEachOnce) {
  store_.refuse(Operation::look, 2);
  store_.pass(Operation::look);
  store_.lose_request(Operation::look);
  EXPECT_EQ(code(store_.look("job")), ErrorCode::unavailable);
  EXPECT_EQ(code(store_.look("job")), ErrorCode::unavailable);
  EXPECT_TRUE(store_.look("job"));
  EXPECT_EQ(code(store_.look("job")), ErrorCode::unknown_outcome);
  EXPECT_TRUE(store_.look("job"));
  EXPECT_TRUE(store_.claim("job", wish()));
}

TEST_F(FaultyStoreTest, AHeldRequestIsNotDoneUntilItsGateOpens) {
  const auto gate = store_.hold_request(Operation::claim);
  std::jthread caller([&] { (void)store_.claim("job", wish()); });
  gate->wait_until_reached();
  EXPECT_FALSE(is_held());
  gate->open();
  caller.join();
  EXPECT_TRUE(is_held());
}

TEST_F(FaultyStoreTest, AHeldReplyIsDoneAlready) {
  const auto gate = store_.hold_reply(Operation::claim);
  std::jthread caller([&] { (void)store_.claim("job", wish()); });
  gate->wait_until_reached();
  EXPECT_TRUE(is_held());
  gate->open();
}

TEST_F(FaultyStoreTest, AHeldCallEndsAtItsDeadline) {
  const base::Deadline past = base::Deadline::at(base::TimePoint{});
  const auto request = store_.hold_request(Operation::claim);
  EXPECT_EQ(code(store_.claim("job", wish(), past)), ErrorCode::unknown_outcome);
  EXPECT_FALSE(is_held());
  const auto reply = store_.hold_reply(Operation::claim);
  EXPECT_EQ(code(store_.claim("job", wish(), past)), ErrorCode::unknown_outcome);
  EXPECT_TRUE(is_held());
}

TEST_F(FaultyStoreTest, AHeldCallCanBeLost) {
  const auto gate = store_.hold_reply(Operation::claim);
  gate->lose();
  EXPECT_EQ(code(store_.claim("job", wish())), ErrorCode::unknown_outcome);
  EXPECT_TRUE(gate->reached());
  EXPECT_TRUE(is_held());
}

TEST_F(FaultyStoreTest, IsUnavailableUntilItComesBack) {
  store_.go_away();
  EXPECT_EQ(code(store_.claim("job", wish())), ErrorCode::unavailable);
  EXPECT_EQ(code(store_.renew({})), ErrorCode::unavailable);
  EXPECT_EQ(code(store_.transfer("job", base::LeaseId::generate(), wish())),
            ErrorCode::unavailable);
  EXPECT_EQ(code(store_.release("job", base::LeaseId::generate())), ErrorCode::unavailable);
  EXPECT_EQ(code(store_.look("job")), ErrorCode::unavailable);
  EXPECT_EQ(code(store_.list("")), ErrorCode::unavailable);
  EXPECT_EQ(code(store_.hit("job", {.limit = 1, .period = 1s})), ErrorCode::unavailable);
  EXPECT_EQ(code(store_.watch("job", [](const auto&) {})), ErrorCode::unavailable);
  store_.come_back();
  EXPECT_TRUE(store_.claim("job", wish()));
}

TEST_F(FaultyStoreTest, HintsComeThroughUntilTheyAreLost) {
  int hints = 0;
  const store::Watch watch = *store_.watch("job", [&](const auto&) { ++hints; });
  const auto claim_and_release = [&] {
    const store::Claim claim = wish();
    (void)store_.claim("job", claim);
    (void)store_.release("job", claim.id);
  };
  claim_and_release();
  EXPECT_EQ(hints, 1);
  store_.lose_hints();
  claim_and_release();
  EXPECT_EQ(hints, 1);
}

}  // namespace
}  // namespace holdfast::testing
