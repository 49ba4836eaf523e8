// Documents with numbers that Holdfast has not written.

#include <array>
#include <string>
#include <vector>

#include <tests/mongodb/mongo_test.h>

namespace holdfast::tests {
namespace {

using base::ErrorCode;
using namespace std::chrono_literals;

class Numbers : public MongoTest {
 protected:
  // Plants a lock of another program, with this token, that has ended or lasts for very long.
  void plant_mutex(const std::string& name, const std::string& token, bool is_held,
                   const std::string& granted = "1") {
    plant(R"({"_id": ")" + name + R"(", "lockId": "theirs", "fencingToken": {"$numberLong": ")" +
          token + R"("}, "acquiredAt": {"$date": {"$numberLong": ")" + granted +
          R"("}}, "expiresAt": {"$date": {"$numberLong": ")" +
          (is_held ? "99999999999999" : "2000") + R"("}}})");
  }
  void expect_corrupt(const std::string& name) {
    const auto claimed = store_->claim(name, wish());
    ASSERT_FALSE(claimed) << name;
    EXPECT_EQ(claimed.error().code, ErrorCode::corrupt) << name << claimed.error().message;
    const auto seen = store_->look(name);
    ASSERT_FALSE(seen) << name;
    EXPECT_EQ(seen.error().code, ErrorCode::corrupt) << name << seen.error().message;
  }
};

TEST_F(Numbers, ATokenThatIsNegativeOrOfTheFarFutureIsCorruptAndStaysAsItIs) {
  const auto next_year = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch() + std::chrono::days(367));
  int planted = 0;
  for (const std::string& token :
       {std::string("-1"), std::string("-9223372036854775808"), std::string("9223372036854775807"),
        std::string("9007199254740993"), std::to_string(next_year.count())}) {
    for (const bool is_held : {false, true}) {
      const std::string name = "job" + std::to_string(++planted);
      plant_mutex(name, token, is_held);
      const std::string before = document(name);
      expect_corrupt(name);
      EXPECT_EQ(document(name), before);
    }
  }
}

TEST_F(Numbers, ATokenThatIsALittleAheadOfTheClockGrowsOn) {
  const auto soon = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch() + std::chrono::days(300));
  plant_mutex("job", std::to_string(soon.count()), false);
  const auto grant = expect<store::Grant>(store_->claim("job", wish()));
  EXPECT_EQ(grant.token.value(), static_cast<std::uint64_t>(soon.count()) + 1);
}

TEST_F(Numbers, PermitsAndHitsOutOfTheirRangeAreCorrupt) {
  int planted = 0;
  const auto lease = [](const std::string& permits) {
    return R"("leases": [{"lockId": "a", "permits": )" + permits + R"(, "token": 7,
        "granted": {"$date": {"$numberLong": "1"}},
        "expires": {"$date": {"$numberLong": "99999999999999"}}}])";
  };
  for (const std::string& fields :
       {R"("capacity": {"$numberLong": "4294967296"}, )" + lease("1"),
        R"("capacity": -1, )" + lease("1"), R"("capacity": 5, )" + lease("-7"),
        std::string(R"("capacity": 5, "leases": [],
            "window": {"ends": {"$numberLong": "9223372036854775807"}, "hits": -1})")}) {
    const std::string name = "job" + std::to_string(++planted);
    std::string document = R"({"lockId": "holdfast", "fencingToken": 7,
        "acquiredAt": {"$date": {"$numberLong": "1"}},
        "expiresAt": {"$date": {"$numberLong": "99999999999999"}}, "_id": ")";
    document.append(name).append("\", ").append(fields).append("}");
    plant(document);
    expect_corrupt(name);
  }
}

TEST_F(Numbers, ALockThatWasAcquiredInADistantPastIsHeldForVeryLong) {
  plant_mutex("job", "7", true, "-8000000000000");
  EXPECT_GT(holders("job").at(0).held_for, base::Duration(std::chrono::years(100)));
}

TEST_F(Numbers, ARecordThatCannotBeReadFailsItsOwnRenewalAlone) {
  const store::Claim good = wish();
  expect<store::Grant>(store_->claim("good", good));
  plant_mutex("damaged", "-1", true);
  const std::array<store::Renewal, 2> renewals{
      store::Renewal{.name = "damaged", .id = good.id, .ttl = 10min},
      store::Renewal{.name = "good", .id = good.id, .ttl = 10min}};
  EXPECT_EQ(base::value_or_throw(store_->renew(renewals)),
            (std::vector{store::RenewOutcome::failed, store::RenewOutcome::renewed}));
}

}  // namespace
}  // namespace holdfast::tests
