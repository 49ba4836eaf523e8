// A contended name is left free now and then, so that clients that poll get in.

#include <memory>
#include <string>

#include <tests/redis/given.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using store::Busy;
using store::Grant;
using store::HeldBack;
using store::ReleaseOutcome;

class Yield : public Given {
 protected:
  // Makes the lease one that was granted longer ago than `kEvery`.
  void make_due() {
    change_note(Field::granted, std::to_string(granted_.token.value() - 400'000'000));
  }

  static constexpr base::Duration kEvery = 200s;  // left free for 10 s
  const std::unique_ptr<store::LeaseStore> yielding_ = open_store(server_.port(), kEvery);
};

TEST_F(Yield, ADueReleaseLeavesTheNameFreeForOthers) {
  Claimant waiting(server_.port());
  make_due();
  EXPECT_EQ(base::value_or_throw(yielding_->release("job", first_.id)), ReleaseOutcome::released);
  EXPECT_EQ(holder(), base::LeaseId());
  EXPECT_TRUE(waiting.is_told());
  const Busy refused = expect<Busy>(waiting.ask());
  EXPECT_TRUE(refused.pending);
  EXPECT_LE(refused.frees_in, kEvery / 20);
  EXPECT_FALSE(refused.holders.empty());
  expect<Busy>(store_->claim("job", wish()));
  EXPECT_EQ(run({"SET", "job", "foreign", "NX", "PX", "600000"}), "OK");
  EXPECT_TRUE(expect<Busy>(waiting.ask()).holders.at(0).foreign);
}

TEST_F(Yield, ALockThatAnotherClientTookMeanwhileIsForeignWhateverItsValue) {
  Claimant waiting(server_.port());
  make_due();
  EXPECT_EQ(base::value_or_throw(yielding_->release("job", first_.id)), ReleaseOutcome::released);
  EXPECT_EQ(run({"SET", "job", "0", "NX", "PX", "600000"}), "OK");
  EXPECT_TRUE(expect<Busy>(waiting.ask()).holders.at(0).foreign);
  change_note(Field::lasts, "0");  // as if the name had yielded long ago
  EXPECT_TRUE(expect<Busy>(store_->claim("job", wish())).holders.at(0).foreign);
  EXPECT_EQ(run({"GET", "job"}), "0");
}

TEST_F(Yield, AWaiterKeepsItsPositionAndIsServedAfterwards) {
  const auto soon_over = open_store(server_.port(), 2s);  // left free for 100 ms
  Claimant waiting(server_.port());
  Claimant next(server_.port());
  make_due();
  base::value_or_throw(soon_over->release("job", first_.id));
  ASSERT_TRUE(waiting.is_told());
  EXPECT_EQ(in_queue(), 2);
  EXPECT_EQ(next.calls, 0);
  ASSERT_TRUE(eventually(
      [&] { return std::holds_alternative<Grant>(base::value_or_throw(waiting.ask())); }));
  EXPECT_GT(holders("job").at(0).token, granted_.token);
  EXPECT_EQ(in_queue(), 1);
  base::value_or_throw(waiting.store->release("job", waiting.claim.id));
  EXPECT_EQ(holder(), next.claim.id);
}

TEST_F(Yield, AReleaseForWhichNobodyWaitsFreesTheNameForAll) {
  make_due();
  EXPECT_EQ(base::value_or_throw(yielding_->release("job", first_.id)), ReleaseOutcome::released);
  expect<Grant>(store_->claim("job", wish()));
}

TEST_F(Yield, AReleaseThatIsNotDueGrantsTheName) {
  const auto hardly_ever = open_store(server_.port(), 24h * 365 * 100);
  const Claimant waiting(server_.port());
  base::value_or_throw(hardly_ever->release("job", first_.id));
  EXPECT_EQ(holder(), waiting.claim.id);
}

TEST_F(Yield, ADueHandOverToAWaiterIsHeldBack) {
  store::Claim waiter = wish();
  waiter.waits = true;
  make_due();
  expect<HeldBack>(yielding_->transfer("job", first_.id, waiter));
  EXPECT_EQ(holder(), first_.id);
  // A release that is no hand-over to a waiter does not.
  expect<Grant>(yielding_->transfer("job", first_.id, wish()));
}

}  // namespace
}  // namespace holdfast::tests
