#include <array>

#include <tests/mongodb/mongo_test.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using store::Claim;
using store::Grant;
using store::ReleaseOutcome;
using store::Renewal;
using store::RenewOutcome;

class Renewals : public MongoTest {
 protected:
  explicit Renewals(const MongoServer::Options& options = {}) : MongoTest(options) {}
};

TEST_F(Renewals, ABadRecordDoesNotKeepItsNeighboursFromBeingRenewed) {
  const Claim one = wish({}, 1min);
  const Claim two = wish({}, 1min);
  expect<Grant>(store_->claim("one", one));
  expect<Grant>(store_->claim("two", two));
  // The server cannot evaluate a pipeline with leases that are not a list.
  plant(R"({"_id": "bad", "lockId": "holdfast", "capacity": 2, "leases": 5, "fencingToken": 7,
            "acquiredAt": {"$date": {"$numberLong": "1"}},
            "expiresAt": {"$date": {"$numberLong": "99999999999999"}}})");
  const std::array<Renewal, 3> batch{{{.name = "one", .id = one.id, .ttl = 10min},
                                      {.name = "bad", .id = one.id, .ttl = 10min},
                                      {.name = "two", .id = two.id, .ttl = 10min}}};
  const auto outcomes = base::value_or_throw(store_->renew(batch));
  EXPECT_EQ(outcomes,
            (std::vector{RenewOutcome::renewed, RenewOutcome::failed, RenewOutcome::renewed}));
  EXPECT_GT(holders("one").at(0).time_left, 5min);
  EXPECT_GT(holders("two").at(0).time_left, 5min);
  EXPECT_EQ(store_->release("bad", one.id).error().code, base::ErrorCode::corrupt);
}

TEST_F(Renewals, ALeaseThatWouldBeShortenedIsRenewed) {
  const Claim claim = wish({}, 10min);
  expect<Grant>(store_->claim("job", claim));
  EXPECT_EQ(renew("job", claim.id, 1min), RenewOutcome::renewed);
  EXPECT_GT(holders("job").at(0).time_left, 5min);
}

class RenewalsOnTheStandIn : public Renewals {
 protected:
  RenewalsOnTheStandIn() : Renewals({.must_be_stand_in = true, .own = true}) {}
};

// Only the answer to a write is believed: reads may come from a primary that has been replaced.
TEST_F(RenewalsOnTheStandIn, ALeaseThatWasGivenAwayIsLostThoughAReadStillShowsIt) {
  const Claim ours = wish();
  expect<Grant>(store_->claim("job", ours));
  client_.run("admin", R"({"holdfastFreezeReads": 1})");
  EXPECT_EQ(release("job", ours.id), ReleaseOutcome::released);
  expect<Grant>(store_->claim("job", wish()));
  EXPECT_EQ(holders("job").at(0).id, ours.id) << "the read should be an old one";
  EXPECT_EQ(renew("job", ours.id), RenewOutcome::lost);
}

}  // namespace
}  // namespace holdfast::tests
