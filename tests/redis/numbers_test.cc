// Records with numbers that Holdfast has not written.

#include <array>
#include <span>
#include <string>
#include <vector>

#include <tests/redis/redis_test.h>

namespace holdfast::tests {
namespace {

using base::ErrorCode;
using namespace std::chrono_literals;

const std::string kId(32, 'a');

class Numbers : public RedisTest {
 protected:
  // Returns the answers of operations on a name with this note, which has a live lease if it can be
  // read.
  void expect_corrupt(const std::string& note) {
    run({"SET", "job", kId});
    run({"SET", "hf:{job}", note});
    expect_all_corrupt(note);
  }
  void expect_corrupt_field(const std::string& field, const std::string& value) {
    run({"DEL", "job", "hf:{job}"});
    run({"HSET", "hf:{job}", field, value});
    expect_all_corrupt(value);
  }
  void expect_all_corrupt(const std::string& what) {
    const auto claimed = store_->claim("job", wish());
    ASSERT_FALSE(claimed) << what;
    EXPECT_EQ(claimed.error().code, ErrorCode::corrupt) << what << claimed.error().message;
    const auto seen = store_->look("job");
    ASSERT_FALSE(seen) << what;
    EXPECT_EQ(seen.error().code, ErrorCode::corrupt) << what << seen.error().message;
  }
};

TEST_F(Numbers, ANoteWithNumbersThatAreNotExactIsCorrupt) {
  const std::string huge(300, '9');
  const std::string good = "1700000000000000";
  const std::string kept = "1700003600";
  const std::string lasts = "600000000";
  const std::string words = " " + kId + " 4 them";
  for (const std::string& bad :
       {std::string("9007199254740993"), std::string("18446744073709551615"), huge,
        std::string("1e308"), std::string("nan"), std::string("-1")}) {
    expect_corrupt(bad + " " + kept + " " + good + " " + lasts + words);
    expect_corrupt(good + " " + kept + " " + bad + " " + lasts + words);
    expect_corrupt(good + " " + kept + " " + good + " " + bad + words);
  }
}

TEST_F(Numbers, AHashWithNumbersThatAreNotExactIsCorrupt) {
  for (const std::string bad : {"9007199254740993", "1e308", "nan", "inf", "0x10", "-1", "", "x"}) {
    expect_corrupt_field("token", bad);
    expect_corrupt_field("hits", bad);
    expect_corrupt_field(kId, bad + " 1 5 1700000000000000 1700000000000000 4 them");
    expect_corrupt_field(kId, "1700000000000000 1 5 " + bad + " 1700000000000000 4 them");
  }
}

TEST_F(Numbers, ARecordThatCannotBeReadFailsItsOwnRenewalAlone) {
  const store::Claim good = wish();
  const store::Claim damaged = wish();
  expect<store::Grant>(store_->claim("good", good));
  expect<store::Grant>(store_->claim("damaged", damaged));
  run({"SET", "hf:{damaged}", "1e308 is not a note"});
  const std::array<store::Renewal, 2> renewals{
      store::Renewal{.name = "damaged", .id = damaged.id, .ttl = 10min},
      store::Renewal{.name = "good", .id = good.id, .ttl = 10min}};
  EXPECT_EQ(base::value_or_throw(store_->renew(renewals)),
            (std::vector{store::RenewOutcome::failed, store::RenewOutcome::renewed}));
  const auto alone = store_->renew(std::span(renewals).first(1));
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, ErrorCode::corrupt);
}

TEST_F(Numbers, ATokenFarAheadOfTheServersClockIsCorrupt) {
  const std::string far = "9007199254740991";
  expect_corrupt_field("token", far);
  expect_corrupt_field(kId, "9007199254740991 1 5 " + far + " 1700000000000000 4 them");
  expect_corrupt_field("count", far + " 1 5");
  expect_corrupt(far + " 1700003600 1700000000000000 600000000 " + kId + " 4 them");
}

TEST_F(Numbers, ALeaseWithATokenFarAheadIsNotRenewed) {
  const store::Claim held = wish({.count = 1, .capacity = 2});
  const std::uint64_t token = expect<store::Grant>(store_->claim("job", held)).token.value();
  std::string lease = run({"HGET", "hf:{job}", to_string(held.id)});
  const std::string text = " " + std::to_string(token) + " ";
  lease.replace(lease.find(text), text.size(), " 9007199254740991 ");
  run({"HSET", "hf:{job}", to_string(held.id), lease});
  const store::Renewal renewal{.name = "job", .id = held.id, .ttl = 10min};
  const auto renewed = store_->renew({&renewal, 1});
  ASSERT_FALSE(renewed);
  EXPECT_EQ(renewed.error().code, ErrorCode::corrupt);
}

TEST_F(Numbers, ALeaseOfAbsurdLengthHasASaneOne) {
  run({"SET", "job", kId});
  run({"SET", "hf:{job}",
       "1700000000000000 1700003600 9007199254740000 9007199254740000 " + kId + " 4 them"});
  const auto holder = base::value_or_throw(store_->look("job"))->holders.at(0);
  EXPECT_EQ(holder.time_left, base::Duration(store::LeaseStore::kMaxTtl));
  EXPECT_EQ(holder.held_for, base::Duration::zero());
  const auto busy = expect<store::Busy>(store_->claim("job", wish()));
  EXPECT_EQ(busy.frees_in, base::Duration(store::LeaseStore::kMaxTtl));
}

}  // namespace
}  // namespace holdfast::tests
