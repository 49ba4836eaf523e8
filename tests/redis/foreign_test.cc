#include <tests/redis/redis_test.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using store::Busy;
using store::Claim;
using store::Grant;
using store::LeaseStore;
using store::Permits;
using store::ReleaseOutcome;
using store::RenewOutcome;

// Locks of programs that are not Holdfast.
class Foreign : public RedisTest {
 protected:
  void lock(const std::string& name, const std::string& value) {
    ASSERT_EQ(run({"SET", name, value, "NX", "PX", "60000"}), "OK");
  }
};

TEST_F(Foreign, AForeignLockExcludesAndShowsAsForeign) {
  lock("job", "a value of theirs");
  const Busy busy = expect<Busy>(store_->claim("job", wish()));
  ASSERT_EQ(busy.holders.size(), 1U);
  EXPECT_TRUE(busy.holders[0].foreign);
  EXPECT_EQ(busy.holders[0].owner, "a value of theirs");
  EXPECT_GT(busy.holders[0].time_left, 0s);
  EXPECT_LE(busy.frees_in, 60s);
  ASSERT_EQ(holders("job").size(), 1U);
  EXPECT_TRUE(holders("job")[0].foreign);
}

TEST_F(Foreign, AForeignLockIsNeverChanged) {
  const std::string value = to_string(base::LeaseId::generate());
  lock("job", value);
  const auto id = base::LeaseId::generate();
  expect<Busy>(store_->claim("job", wish()));
  EXPECT_EQ(renew("job", id), RenewOutcome::lost);
  EXPECT_EQ(release("job", id), ReleaseOutcome::not_held);
  expect<store::Lost>(store_->transfer("job", id, wish()));
  EXPECT_EQ(store_->claim("job", wish(Permits::of(1, 2))).error().code, ErrorCode::conflict);
  EXPECT_EQ(store_->hit("job", {.limit = 1, .period = 1min}).error().code, ErrorCode::conflict);
  EXPECT_EQ(run({"GET", "job"}), value);
  EXPECT_LE(std::stoi(run({"PTTL", "job"})), 60'000);
}

TEST_F(Foreign, AForeignLockThatNeverExpiresLastsAsLongAsAnyLeaseCan) {
  run({"SET", "job", "for ever"});
  EXPECT_EQ(expect<Busy>(store_->claim("job", wish())).frees_in, LeaseStore::kMaxTtl);
  EXPECT_EQ(holders("job").at(0).time_left, LeaseStore::kMaxTtl);
  EXPECT_EQ(run({"PTTL", "job"}), "-1");
}

TEST_F(Foreign, OnceAForeignLockHasEndedTheNameIsFree) {
  lock("job", "theirs");
  expect<Busy>(store_->claim("job", wish()));
  run({"DEL", "job"});
  expect<Grant>(store_->claim("job", wish()));
}

TEST_F(Foreign, AForeignLockIsListedWhereTheNameHasBeenOurs) {
  const Claim claim = wish();
  expect<Grant>(store_->claim("job", claim));
  release("job", claim.id);
  lock("job", "theirs");
  const store::Page page = base::value_or_throw(store_->list(""));
  ASSERT_EQ(page.names.size(), 1U);
  EXPECT_TRUE(page.names[0].holders.at(0).foreign);
}

TEST_F(Foreign, OurKeyDeletedBySomebodyIsOurLeaseLost) {
  const Claim claim = wish();
  const Grant before = expect<Grant>(store_->claim("job", claim));
  run({"DEL", "job"});
  EXPECT_TRUE(holders("job").empty());
  EXPECT_EQ(renew("job", claim.id), RenewOutcome::lost);
  EXPECT_EQ(release("job", claim.id), ReleaseOutcome::not_held);
  EXPECT_GT(expect<Grant>(store_->claim("job", wish())).token, before.token);
}

TEST_F(Foreign, OurKeyOverwrittenBySomebodyIsTheirs) {
  const Claim claim = wish();
  expect<Grant>(store_->claim("job", claim));
  run({"SET", "job", "theirs"});
  EXPECT_EQ(renew("job", claim.id), RenewOutcome::lost);
  EXPECT_EQ(release("job", claim.id), ReleaseOutcome::not_held);
  EXPECT_TRUE(expect<Busy>(store_->claim("job", claim)).holders.at(0).foreign);
  EXPECT_EQ(run({"GET", "job"}), "theirs");
}

TEST_F(Foreign, WithoutItsCompanionOurKeyCanStillBeReleased) {
  const Claim claim = wish();
  expect<Grant>(store_->claim("job", claim));
  run({"DEL", "hf:{job}"});
  EXPECT_EQ(renew("job", claim.id), RenewOutcome::lost);
  EXPECT_EQ(release("job", base::LeaseId::generate()), ReleaseOutcome::not_held);
  EXPECT_EQ(run({"EXISTS", "job"}), "1");
  EXPECT_EQ(release("job", claim.id), ReleaseOutcome::released);
  EXPECT_EQ(run({"EXISTS", "job"}), "0");
}

TEST_F(Foreign, AKeyOfAnotherTypeIsAConflictAndStaysAsItIs) {
  run({"RPUSH", "job", "data"});
  EXPECT_EQ(store_->claim("job", wish()).error().code, ErrorCode::conflict);
  EXPECT_EQ(store_->claim("job", wish(Permits::of(1, 2))).error().code, ErrorCode::conflict);
  EXPECT_EQ(store_->look("job").error().code, ErrorCode::conflict);
  EXPECT_NE(store_->look("job").error().message.find("choose another name"), std::string::npos);
  EXPECT_EQ(store_->hit("job", {.limit = 1, .period = 1min}).error().code, ErrorCode::conflict);
  EXPECT_EQ(renew("job", base::LeaseId::generate()), RenewOutcome::lost);
  EXPECT_EQ(run({"LRANGE", "job", "0", "-1"}), "[data]");
}

}  // namespace
}  // namespace holdfast::tests
