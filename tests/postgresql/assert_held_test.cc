// A transaction of the user's own that asserts a lease.

#include <stdexcept>
#include <string>

#include <tests/postgresql/postgres_test.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using store::Busy;
using store::Claim;
using store::Grant;
using store::Permits;
using store::ReleaseOutcome;

class AssertHeld : public PostgresTest {
 protected:
  void begin() { user_.change("BEGIN"); }
  void commit() { user_.change("COMMIT"); }
  // Returns why the assertion failed; empty if it did not.
  std::string assertion(const std::string& name, base::FencingToken token) {
    try {
      user_.change("SELECT " + schema_ + ".assert_held($1, $2::bigint)", {name, to_string(token)});
      return "";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }
  bool is_granted(std::string_view name, const Claim& claim) {
    return std::holds_alternative<Grant>(base::value_or_throw(store_->claim(name, claim)));
  }
  // Acquired for so short that it has ended when this returns.
  base::FencingToken ended(std::string_view name, Permits permits = {}) {
    const auto token = expect<Grant>(store_->claim(name, wish(permits, 100ms))).token;
    EXPECT_TRUE(eventually([&] { return holders(name).empty(); }));
    return token;
  }

  PostgresClient user_{server().conninfo()};
};

TEST_F(AssertHeld, PassesForALeaseThatHoldsTheName) {
  const auto token = expect<Grant>(store_->claim("job", wish())).token;
  EXPECT_EQ(assertion("job", token), "");
  const auto shared = expect<Grant>(store_->claim("page", wish(Permits::reader()))).token;
  EXPECT_EQ(assertion("page", shared), "");
}

TEST_F(AssertHeld, FailsForEveryOtherToken) {
  const Claim claim = wish();
  const auto token = expect<Grant>(store_->claim("job", claim)).token;
  for (const base::FencingToken other :
       {base::FencingToken(0), base::FencingToken(token.value() - 1),
        base::FencingToken(token.value() + 1)}) {
    EXPECT_NE(assertion("job", other).find("does not hold the name any more"), std::string::npos);
  }
  EXPECT_NE(assertion("unknown", token), "");
  release("job", claim.id);
  EXPECT_NE(assertion("job", token), "");
  EXPECT_NE(assertion("brief", ended("brief")), "");
  EXPECT_NE(assertion("page", ended("page", Permits::reader())), "");
}

TEST_F(AssertHeld, AnAssertedLeaseThatIsReleasedIsGrantedToNobodyBeforeTheEnd) {
  const Claim claim = wish();
  const auto token = expect<Grant>(store_->claim("job", claim)).token;
  begin();
  ASSERT_EQ(assertion("job", token), "");
  EXPECT_EQ(release("job", claim.id), ReleaseOutcome::released);
  const Claim next = wish();
  const auto busy = expect<Busy>(store_->claim("job", next));
  EXPECT_TRUE(busy.holders.empty());
  EXPECT_GT(busy.frees_in, base::Duration::zero());
  commit();
  EXPECT_GT(expect<Grant>(store_->claim("job", next)).token, token);
}

TEST_F(AssertHeld, AnAssertedLeaseThatExpiresIsGrantedToNobodyBeforeTheEnd) {
  for (const Permits permits : {Permits::mutex(), Permits::of(2, 2)}) {
    const std::string name = "job" + std::to_string(permits.capacity);
    // Long enough for the assertion, on a machine that has other work.
    const auto token = expect<Grant>(store_->claim(name, wish(permits, 3s))).token;
    begin();
    ASSERT_EQ(assertion(name, token), "");
    ASSERT_TRUE(eventually([&] { return holders(name).empty(); }));
    const Claim next = wish(permits);
    EXPECT_FALSE(is_granted(name, next));
    EXPECT_FALSE(is_granted(name, next));
    commit();
    EXPECT_TRUE(is_granted(name, next));
  }
}

TEST_F(AssertHeld, RenewalsGoOnMeanwhile) {
  const Claim mutex = wish();
  const Claim reader = wish(Permits::reader());
  const auto of_mutex = expect<Grant>(store_->claim("job", mutex)).token;
  const auto of_reader = expect<Grant>(store_->claim("page", reader)).token;
  begin();
  ASSERT_EQ(assertion("job", of_mutex), "");
  ASSERT_EQ(assertion("page", of_reader), "");
  EXPECT_EQ(renew("job", mutex.id, 20min), store::RenewOutcome::renewed);
  EXPECT_EQ(renew("page", reader.id, 20min), store::RenewOutcome::renewed);
  commit();
  EXPECT_GT(holders("job").at(0).time_left, 15min);
  EXPECT_GT(holders("page").at(0).time_left, 15min);
}

TEST_F(AssertHeld, AnAssertedLeaseIsNotHandedOver) {
  const Claim claim = wish();
  const auto token = expect<Grant>(store_->claim("job", claim)).token;
  begin();
  ASSERT_EQ(assertion("job", token), "");
  expect<store::HeldBack>(store_->transfer("job", claim.id, wish()));
  commit();
  expect<Grant>(store_->transfer("job", claim.id, wish()));
}

TEST_F(AssertHeld, AWaiterIsNotGrantedTheNameBeforeTheEnd) {
  const Claim claim = wish();
  const auto token = expect<Grant>(store_->claim("job", claim)).token;
  Claim waiting = wish();
  waiting.waits = true;
  expect<Busy>(store_->claim("job", waiting));
  begin();
  ASSERT_EQ(assertion("job", token), "");
  release("job", claim.id);
  EXPECT_TRUE(holders("job").empty());
  expect<Busy>(store_->claim("job", waiting));
  commit();
  expect<Grant>(store_->claim("job", waiting));
}

TEST_F(AssertHeld, SeveralTransactionsOfOneHolderDoNotWaitForEachOther) {
  const auto token = expect<Grant>(store_->claim("job", wish())).token;
  begin();
  ASSERT_EQ(assertion("job", token), "");
  client_.change("SET lock_timeout = '60s'");
  EXPECT_EQ(ask("SELECT {schema}.assert_held('job', " + to_string(token) + ")"), "");
  commit();
}

TEST_F(AssertHeld, ANameThatWasAssertedIsQuickAgainAfterwards) {
  const Claim claim = wish();
  const auto token = expect<Grant>(store_->claim("job", claim)).token;
  begin();
  ASSERT_EQ(assertion("job", token), "");
  commit();
  release("job", claim.id);
  // The mark of the assertion does not stay in the row, where each claim would have to look at it.
  EXPECT_EQ(ask("SELECT xmax::text FROM {schema}.records"), "0");
}

}  // namespace
}  // namespace holdfast::tests
