// Records with numbers that Holdfast has not written.

#include <array>
#include <span>
#include <string>

#include <tests/postgresql/postgres_test.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using store::Claim;
using store::Grant;
using store::Permits;

class Numbers : public PostgresTest {
 protected:
  void expect_corrupt(const std::string& name, Permits permits = {}) {
    const auto claimed = store_->claim(name, wish(permits));
    ASSERT_FALSE(claimed) << name;
    EXPECT_EQ(claimed.error().code, ErrorCode::corrupt) << claimed.error().message;
    const auto seen = store_->look(name);
    ASSERT_FALSE(seen) << name;
    EXPECT_EQ(seen.error().code, ErrorCode::corrupt) << seen.error().message;
  }
  std::string record() { return ask("SELECT r::text FROM {schema}.records AS r"); }
};

TEST_F(Numbers, AreCorruptAndStayAsTheyAre) {
  for (const Permits permits : {Permits::mutex(), Permits::of(1, 5)}) {
    const Claim claim = wish(permits);
    expect<Grant>(store_->claim("job", claim));
    for (const std::string damage :
         {"last_token = -1", "last_token = 9223372036854775807", "capacity = 0", "capacity = -7",
          "capacity = 4294967296", "used = -1", "used = 77", "hits = -1", "hits = 4294967296",
          "counts_until = 9223372036854775807", "expires = 9223372036854775807"}) {
      change("CREATE TABLE {schema}.saved AS SELECT * FROM {schema}.records");
      change("UPDATE {schema}.records SET " + damage);
      const std::string before = record();
      expect_corrupt("job", permits);
      EXPECT_EQ(record(), before) << damage;
      change("DELETE FROM {schema}.records");
      change("INSERT INTO {schema}.records SELECT * FROM {schema}.saved");
      change("DROP TABLE {schema}.saved");
    }
    release("job", claim.id);
  }
}

TEST_F(Numbers, ATokenThatIsALittleAheadOfTheClockGrowsOn) {
  const Claim claim = wish();
  expect<Grant>(store_->claim("job", claim));
  release("job", claim.id);
  const auto soon = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch() + std::chrono::days(300));
  change("UPDATE {schema}.records SET last_token = " + std::to_string(soon.count()));
  EXPECT_EQ(expect<Grant>(store_->claim("job", wish())).token.value(),
            static_cast<std::uint64_t>(soon.count()) + 1);
}

TEST_F(Numbers, ARecordThatCannotBeReadFailsItsOwnRenewalAlone) {
  const Claim good = wish();
  const Claim damaged = wish();
  expect<Grant>(store_->claim("good", good));
  expect<Grant>(store_->claim("damaged", damaged));
  change("UPDATE {schema}.records SET last_token = -1 WHERE name = 'damaged'");
  const std::array<store::Renewal, 2> renewals{
      store::Renewal{.name = "damaged", .id = damaged.id, .ttl = 10min},
      store::Renewal{.name = "good", .id = good.id, .ttl = 10min}};
  EXPECT_EQ(base::value_or_throw(store_->renew(renewals)),
            (std::vector{store::RenewOutcome::failed, store::RenewOutcome::renewed}));
  const auto alone = store_->renew(std::span(renewals).first(1));
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, ErrorCode::corrupt);
}

TEST_F(Numbers, ARecordThatCannotBeReadIsNotListed) {
  expect<Grant>(store_->claim("good", wish()));
  expect<Grant>(store_->claim("damaged", wish()));
  change("UPDATE {schema}.records SET last_token = -1 WHERE name = 'damaged'");
  const auto page = base::value_or_throw(store_->list(""));
  ASSERT_EQ(page.names.size(), 1U);
  EXPECT_EQ(page.names[0].name.view(), "good");
}

}  // namespace
}  // namespace holdfast::tests
