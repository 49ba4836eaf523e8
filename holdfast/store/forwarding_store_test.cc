#include <holdfast/store/forwarding_store.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/ids.h>
#include <holdfast/engines/memory/memory_store.h>

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;
using base::Deadline;
using base::ErrorCode;
using base::LeaseId;
using base::Result;

// Forwards every call `times` times, and then refuses if there is an error.
class Counting final : public ForwardingStore {
 public:
  explicit Counting(std::shared_ptr<LeaseStore> real) : ForwardingStore(std::move(real)) {}

  int times = 1;
  std::optional<ErrorCode> error{};
  std::vector<Operation> seen{};

 private:
  Result<void> around(Operation operation, Deadline deadline, const Forward& forward) override {
    seen.push_back(operation);
    Result<void> done;
    for (int i = 0; i < times; ++i) done = forward(deadline);
    if (error) return base::fail(*error, "as the test wanted");
    return done;
  }
};

class ForwardingStoreTest : public ::testing::Test {
 protected:
  static Claim claim(base::Duration ttl = 10s) {
    return {.id = LeaseId::generate(), .owner = "me", .reason = {}, .ttl = ttl};
  }

  std::shared_ptr<engines::memory::MemoryStore> real_ =
      std::make_shared<engines::memory::MemoryStore>();
  Counting store_{real_};
};

TEST_F(ForwardingStoreTest, ForwardsEveryOperationAndItsOutcome) {
  const Claim first = claim();
  const Claim second = claim();
  int notices = 0;
  {
    const auto watch = store_.watch("a", [&](const Notice&) { ++notices; });
    ASSERT_TRUE(watch);
    const auto granted = store_.claim("a", first);
    ASSERT_TRUE(granted);
    EXPECT_TRUE(std::holds_alternative<Grant>(*granted));
    const Renewal renewal{.name = "a", .id = first.id, .ttl = 20s};
    EXPECT_EQ(store_.renew({&renewal, 1}), std::vector{RenewOutcome::renewed});
    const auto moved = store_.transfer("a", first.id, second);
    ASSERT_TRUE(moved);
    EXPECT_TRUE(std::holds_alternative<Grant>(*moved));
    const auto state = store_.look("a");
    ASSERT_TRUE(state && *state);
    EXPECT_EQ((*state)->holders.at(0).id, second.id);
    const auto page = store_.list("");
    ASSERT_TRUE(page);
    EXPECT_EQ(page->names.size(), 1U);
    EXPECT_EQ(store_.release("a", second.id), ReleaseOutcome::released);
  }
  EXPECT_GE(notices, 1);
  const auto hit = store_.hit("h", {.limit = 1, .period = 10s});
  ASSERT_TRUE(hit);
  EXPECT_TRUE(hit->allowed);
  EXPECT_EQ(store_.seen,
            (std::vector{Operation::watch, Operation::claim, Operation::renew, Operation::transfer,
                         Operation::look, Operation::list, Operation::release, Operation::hit}));
  EXPECT_EQ(store_.capabilities().engine, real_->capabilities().engine);
}

TEST_F(ForwardingStoreTest, ACallThatIsNotForwardedHasTheErrorAndNoEffect) {
  store_.times = 0;
  store_.error = ErrorCode::unavailable;
  const auto refused = store_.claim("a", claim());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_EQ(real_->look("a"), std::nullopt);
}

TEST_F(ForwardingStoreTest, TheErrorReplacesTheOutcomeOfAForwardedCall) {
  store_.error = ErrorCode::unknown_outcome;
  EXPECT_EQ(store_.claim("a", claim()).error().code, ErrorCode::unknown_outcome);
  EXPECT_NE(real_->look("a"), std::nullopt);
}

TEST_F(ForwardingStoreTest, TheOutcomeOfTheLastForwardedCallCounts) {
  const Claim mine = claim();
  ASSERT_TRUE(real_->claim("a", mine));
  store_.times = 2;
  EXPECT_EQ(store_.release("a", mine.id), ReleaseOutcome::not_held);
}

TEST_F(ForwardingStoreTest, AnErrorOfTheOtherStoreIsReturned) {
  EXPECT_EQ(store_.claim("a", claim(1ns)).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace holdfast::store
