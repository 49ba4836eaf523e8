#include <holdfast/store/lease_rules.h>

#include <chrono>
#include <optional>
#include <variant>

#include <gtest/gtest.h>

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using base::LeaseId;

constexpr LeaseId kOne{1, 1};
constexpr LeaseId kTwo{2, 2};
constexpr LeaseId kThree{3, 3};

Instant at(base::Duration time, std::uint64_t token_floor = 1) {
  return {.time = base::TimePoint{time}, .token_floor = token_floor};
}

Claim wish(const LeaseId& id, base::Ttl ttl = 10s, Permits permits = {}) {
  return {.id = id, .owner = "me", .reason = "why", .ttl = ttl, .permits = permits};
}

std::optional<Grant> grant(const base::Result<ClaimOutcome>& outcome) {
  const Grant* const found = outcome ? std::get_if<Grant>(&*outcome) : nullptr;
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

std::optional<Grant> grant(const base::Result<TransferOutcome>& outcome) {
  const Grant* const found = outcome ? std::get_if<Grant>(&*outcome) : nullptr;
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

bool is_lost(const base::Result<TransferOutcome>& outcome) {
  return outcome && std::holds_alternative<Lost>(*outcome);
}

bool is_busy(const base::Result<ClaimOutcome>& outcome) {
  return outcome && std::holds_alternative<Busy>(*outcome);
}

template <class T>
bool is_conflict(const base::Result<T>& outcome) {
  return !outcome && outcome.error().code == ErrorCode::conflict;
}

std::uint64_t token_of(const std::optional<Grant>& granted) {
  return granted ? granted->token.value() : 0;
}

TEST(LeaseRulesToken, IsTheFloorOrOneMoreThanTheLastWhicheverIsGreater) {
  Record record;
  EXPECT_EQ(token_of(grant(lease_rules::claim(record, wish(kOne), at(0s, 100)))), 100U);
  (void)lease_rules::release(record, kOne, at(0s, 100));
  EXPECT_EQ(token_of(grant(lease_rules::claim(record, wish(kTwo), at(0s, 100)))), 101U);
  (void)lease_rules::release(record, kTwo, at(0s, 50));
  EXPECT_EQ(token_of(grant(lease_rules::claim(record, wish(kOne), at(0s, 50)))), 102U);
  (void)lease_rules::release(record, kOne, at(0s, 200));
  EXPECT_EQ(token_of(grant(lease_rules::claim(record, wish(kTwo), at(0s, 200)))), 200U);
}

TEST(LeaseRulesToken, IsNotAdvancedByWhatIsRejected) {
  Record record;
  (void)lease_rules::claim(record, wish(kOne), at(0s, 100));
  EXPECT_TRUE(is_busy(lease_rules::claim(record, wish(kTwo), at(1s, 500))));
  EXPECT_TRUE(is_conflict(lease_rules::claim(record, wish(kTwo, 10s, {1, 2}), at(1s, 500))));
  EXPECT_TRUE(is_lost(lease_rules::transfer(record, kTwo, wish(kThree), at(1s, 500))));
  EXPECT_EQ(token_of(grant(lease_rules::claim(record, wish(kOne), at(1s, 500)))), 100U);
  EXPECT_EQ(lease_rules::renew(record, kOne, 10s, at(1s, 500)), RenewOutcome::renewed);
  EXPECT_EQ(record.last_token, 100U);
  (void)lease_rules::release(record, kOne, at(1s));
  EXPECT_EQ(token_of(grant(lease_rules::claim(record, wish(kTwo), at(1s)))), 101U);
}

TEST(LeaseRulesClaim, GrantsAFreeNameForItsTtl) {
  Record record;
  const auto outcome = lease_rules::claim(record, wish(kOne, 10s), at(5s, 7));
  EXPECT_EQ(grant(outcome), (Grant{base::FencingToken(7), 10s}));
  ASSERT_EQ(record.leases.size(), 1U);
  EXPECT_EQ(record.leases.front(),
            (StoredLease{kOne, "me", "why", 1, base::FencingToken(7), at(5s).time, at(15s).time}));
}

TEST(LeaseRulesClaim, IsBusyUntilTheVeryEndOfTheLease) {
  Record record;
  (void)lease_rules::claim(record, wish(kOne, 10s), at(0s, 7));
  const auto outcome = lease_rules::claim(record, wish(kTwo), at(10s - 1ns));
  ASSERT_TRUE(is_busy(outcome));
  const Busy& busy = std::get<Busy>(*outcome);
  EXPECT_EQ(busy.frees_in, 1ns);
  ASSERT_EQ(busy.holders.size(), 1U);
  EXPECT_EQ(busy.holders[0],
            (Holder{kOne, "me", "why", 1, base::FencingToken(7), 10s - 1ns, 1ns, false}));
  EXPECT_TRUE(grant(lease_rules::claim(record, wish(kTwo), at(10s))));
  EXPECT_EQ(record.leases.size(), 1U);
}

TEST(LeaseRulesClaim, AgainWithTheSameIdIsTheSameTokenAndAWholeLease) {
  Record record;
  const auto first = grant(lease_rules::claim(record, wish(kOne, 10s), at(0s, 7)));
  const auto again = grant(lease_rules::claim(record, wish(kOne, 99s), at(4s, 900)));
  ASSERT_TRUE(first && again);
  EXPECT_EQ(again->token, first->token);
  EXPECT_EQ(again->time_left, 99s);
  EXPECT_EQ(record.leases.size(), 1U);
}

TEST(LeaseRulesClaim, AgainWithTheSameIdNeverShortens) {
  Record record;
  EXPECT_TRUE(grant(lease_rules::claim(record, wish(kOne, 10s), at(0s, 7))));
  const auto again = grant(lease_rules::claim(record, wish(kOne, 1s), at(4s, 900)));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->time_left, 6s);
}

TEST(LeaseRulesClaim, WithTheIdOfAnExpiredLeaseIsANewGrant) {
  Record record;
  (void)lease_rules::claim(record, wish(kOne, 10s), at(0s, 7));
  EXPECT_EQ(token_of(grant(lease_rules::claim(record, wish(kOne, 10s), at(10s)))), 8U);
  EXPECT_EQ(record.leases.size(), 1U);
}

TEST(LeaseRulesClaim, ThatConflictsChangesNothing) {
  Record record;
  (void)lease_rules::claim(record, wish(kOne, 10s, {1, 3}), at(0s));
  (void)lease_rules::claim(record, wish(kTwo, 1s, {1, 3}), at(0s));
  const Record before = record;
  EXPECT_TRUE(is_conflict(lease_rules::claim(record, wish(kThree, 10s, {1, 4}), at(5s))));
  EXPECT_TRUE(is_conflict(lease_rules::claim(record, wish(kOne, 10s, {2, 3}), at(5s))));
  EXPECT_TRUE(is_conflict(lease_rules::hit(record, {.limit = 1, .period = 1s}, at(5s))));
  EXPECT_TRUE(is_conflict(lease_rules::transfer(record, kOne, wish(kThree), at(5s))));
  EXPECT_EQ(record, before);
}

TEST(LeaseRulesPermits, NeverExceedTheCapacity) {
  Record record;
  EXPECT_TRUE(grant(lease_rules::claim(record, wish(kOne, 10s, {2, 3}), at(0s))));
  EXPECT_TRUE(is_busy(lease_rules::claim(record, wish(kTwo, 10s, {2, 3}), at(0s))));
  EXPECT_TRUE(grant(lease_rules::claim(record, wish(kTwo, 10s, {1, 3}), at(0s))));
  EXPECT_TRUE(is_busy(lease_rules::claim(record, wish(kThree, 10s, {1, 3}), at(0s))));
  EXPECT_EQ(lease_rules::release(record, kOne, at(0s)), ReleaseOutcome::released);
  EXPECT_TRUE(grant(lease_rules::claim(record, wish(kThree, 10s, {2, 3}), at(0s))));
}

TEST(LeaseRulesPermits, OfReadersAndWritersDoNotOverflow) {
  Record record;
  EXPECT_TRUE(grant(lease_rules::claim(record, wish(kOne, 10s, Permits::writer()), at(0s))));
  EXPECT_TRUE(is_busy(lease_rules::claim(record, wish(kTwo, 10s, Permits::reader()), at(0s))));
  EXPECT_TRUE(is_busy(lease_rules::claim(record, wish(kTwo, 10s, Permits::writer()), at(0s))));
  (void)lease_rules::release(record, kOne, at(0s));
  EXPECT_TRUE(grant(lease_rules::claim(record, wish(kTwo, 10s, Permits::reader()), at(0s))));
  EXPECT_TRUE(grant(lease_rules::claim(record, wish(kThree, 10s, Permits::reader()), at(0s))));
  EXPECT_TRUE(is_busy(lease_rules::claim(record, wish(kOne, 10s, Permits::writer()), at(0s))));
}

TEST(LeaseRulesPermits, BusySaysWhenEnoughWillHaveExpired) {
  Record record;
  (void)lease_rules::claim(record, wish(kOne, 30s, {1, 3}), at(0s));
  (void)lease_rules::claim(record, wish(kTwo, 10s, {2, 3}), at(0s));
  const auto frees_in = [&](std::uint32_t count) {
    return std::get<Busy>(*lease_rules::claim(record, wish(kThree, 10s, {count, 3}), at(0s)))
        .frees_in;
  };
  EXPECT_EQ(frees_in(1), 10s);
  EXPECT_EQ(frees_in(2), 10s);
  EXPECT_EQ(frees_in(3), 30s);
}

TEST(LeaseRulesRenew, ExtendsNeverShortensNeverBringsBack) {
  Record record;
  (void)lease_rules::claim(record, wish(kOne, 10s), at(0s));
  EXPECT_EQ(lease_rules::renew(record, kOne, 10s, at(5s)), RenewOutcome::renewed);
  EXPECT_EQ(record.leases.front().expires, at(15s).time);
  EXPECT_EQ(lease_rules::renew(record, kOne, 1s, at(6s)), RenewOutcome::renewed);
  EXPECT_EQ(record.leases.front().expires, at(15s).time);
  EXPECT_EQ(lease_rules::renew(record, kTwo, 99s, at(6s)), RenewOutcome::lost);
  EXPECT_EQ(lease_rules::renew(record, kOne, 10s, at(15s)), RenewOutcome::lost);
  EXPECT_TRUE(lease_rules::is_tombstone(record, at(15s)));
}

TEST(LeaseRulesTransfer, ReplacesTheLeaseAndMintsAToken) {
  Record record;
  (void)lease_rules::claim(record, wish(kOne, 10s), at(0s, 7));
  const auto outcome = lease_rules::transfer(record, kOne, wish(kTwo, 20s), at(4s));
  EXPECT_EQ(grant(outcome), (Grant{base::FencingToken(8), 20s}));
  ASSERT_EQ(record.leases.size(), 1U);
  EXPECT_EQ(record.leases.front().id, kTwo);
  EXPECT_EQ(record.leases.front().granted, at(4s).time);
  EXPECT_EQ(grant(lease_rules::transfer(record, kOne, wish(kTwo, 20s), at(5s))),
            (Grant{base::FencingToken(8), 19s}));
}

TEST(LeaseRulesTransfer, FromALeaseThatHasEndedIsLost) {
  Record record;
  EXPECT_TRUE(is_lost(lease_rules::transfer(record, kOne, wish(kTwo), at(0s))));
  (void)lease_rules::claim(record, wish(kOne, 10s), at(0s));
  EXPECT_TRUE(is_lost(lease_rules::transfer(record, kOne, wish(kTwo), at(10s))));
  EXPECT_TRUE(is_lost(lease_rules::transfer(record, kThree, wish(kTwo), at(5s))));
}

// Two leases of one id would count twice and be released as one.
TEST(LeaseRulesTransfer, ToALeaseThatAlreadyHoldsIsAConflict) {
  Record record;
  (void)lease_rules::claim(record, wish(kOne, 10s, {1, 2}), at(0s));
  (void)lease_rules::claim(record, wish(kTwo, 10s, {1, 2}), at(0s));
  const Record before = record;
  EXPECT_TRUE(is_conflict(lease_rules::transfer(record, kOne, wish(kTwo, 10s, {1, 2}), at(0s))));
  EXPECT_EQ(record, before);
}

TEST(LeaseRulesTransfer, ToTheIdOfAnExpiredLeaseLeavesOneLeaseOfThatId) {
  Record record;
  (void)lease_rules::claim(record, wish(kOne, 1s, {1, 2}), at(0s));
  (void)lease_rules::claim(record, wish(kTwo, 10s, {1, 2}), at(0s));
  EXPECT_TRUE(grant(lease_rules::transfer(record, kTwo, wish(kOne, 10s, {1, 2}), at(5s))));
  EXPECT_EQ(record.leases.size(), 1U);
  EXPECT_EQ(lease_rules::renew(record, kOne, 10s, at(6s)), RenewOutcome::renewed);
}

TEST(LeaseRulesTransfer, PutsTheNewLeaseBehindOlderOnes) {
  Record record;
  (void)lease_rules::claim(record, wish(kOne, 10s, {1, 2}), at(0s));
  (void)lease_rules::claim(record, wish(kTwo, 10s, {1, 2}), at(1s));
  (void)lease_rules::transfer(record, kOne, wish(kThree, 10s, {1, 2}), at(2s));
  ASSERT_EQ(record.leases.size(), 2U);
  EXPECT_EQ(record.leases.front().id, kTwo);
  EXPECT_EQ(record.leases.back().id, kThree);
}

TEST(LeaseRulesRelease, RemovesExactlyThatLease) {
  Record record;
  (void)lease_rules::claim(record, wish(kOne, 10s, Permits::reader()), at(0s));
  (void)lease_rules::claim(record, wish(kTwo, 10s, Permits::reader()), at(0s));
  EXPECT_EQ(lease_rules::release(record, kThree, at(0s)), ReleaseOutcome::not_held);
  EXPECT_EQ(record.leases.size(), 2U);
  EXPECT_EQ(lease_rules::release(record, kOne, at(0s)), ReleaseOutcome::released);
  EXPECT_EQ(lease_rules::release(record, kOne, at(0s)), ReleaseOutcome::not_held);
  ASSERT_EQ(record.leases.size(), 1U);
  EXPECT_EQ(record.leases.front().id, kTwo);
  EXPECT_EQ(lease_rules::release(record, kTwo, at(10s)), ReleaseOutcome::not_held);
}

TEST(LeaseRulesRelease, KeepsTheLastToken) {
  Record record;
  (void)lease_rules::claim(record, wish(kOne), at(0s, 41));
  (void)lease_rules::release(record, kOne, at(0s));
  EXPECT_TRUE(lease_rules::is_tombstone(record, at(0s)));
  EXPECT_EQ(record.last_token, 41U);
}

bool is_held_back(const base::Result<TransferOutcome>& outcome) {
  return outcome && std::holds_alternative<HeldBack>(*outcome);
}

Claim patient(const LeaseId& id, base::Duration holds_back, Permits permits = Permits::writer()) {
  Claim claim = wish(id, 10s, permits);
  claim.holds_back = holds_back;
  return claim;
}

class LeaseRulesWaiting : public testing::Test {
 protected:
  LeaseRulesWaiting() { EXPECT_TRUE(grant(claim(reader(kOne), 0s))); }

  static Claim reader(const LeaseId& id) { return wish(id, 10s, Permits::reader()); }
  base::Result<ClaimOutcome> claim(const Claim& claim, base::Duration time) {
    return lease_rules::claim(record_, claim, at(time));
  }

  Record record_;
};

TEST_F(LeaseRulesWaiting, AWriterThatWaitsKeepsNewReadersOutForItsTimeOnly) {
  EXPECT_TRUE(is_busy(claim(patient(kTwo, 5s), 1s)));
  const auto refused = claim(reader(kThree), 2s);
  ASSERT_TRUE(is_busy(refused));
  EXPECT_EQ(std::get<Busy>(*refused).frees_in, 4s);
  EXPECT_TRUE(grant(claim(reader(kOne), 2s)));  // it holds already
  EXPECT_TRUE(is_busy(claim(reader(kThree), 6s - 1ns)));
  EXPECT_TRUE(grant(claim(reader(kThree), 6s)));
}

TEST_F(LeaseRulesWaiting, AClaimThatDoesNotAskForItHoldsNobodyBack) {
  EXPECT_TRUE(is_busy(claim(patient(kTwo, 0s), 1s)));
  EXPECT_TRUE(grant(claim(reader(kThree), 2s)));
}

TEST_F(LeaseRulesWaiting, EndsWithTheGrant) {
  EXPECT_TRUE(is_busy(claim(patient(kTwo, 50s), 1s)));
  (void)lease_rules::release(record_, kOne, at(2s));
  EXPECT_FALSE(lease_rules::is_tombstone(record_, at(2s)));
  EXPECT_TRUE(is_busy(claim(reader(kThree), 2s)));  // free, but not for this one
  EXPECT_TRUE(grant(claim(patient(kTwo, 50s), 3s)));
  (void)lease_rules::release(record_, kTwo, at(4s));
  EXPECT_TRUE(grant(claim(reader(kThree), 4s)));
}

TEST_F(LeaseRulesWaiting, EndsWithARelease) {
  EXPECT_TRUE(is_busy(claim(patient(kTwo, 50s), 1s)));
  const lease_rules::Load before = lease_rules::load_of(record_);
  EXPECT_EQ(lease_rules::release(record_, kTwo, at(2s)), ReleaseOutcome::not_held);
  EXPECT_TRUE(lease_rules::is_eased(before, lease_rules::load_of(record_)));
  EXPECT_TRUE(grant(claim(reader(kThree), 2s)));
}

TEST_F(LeaseRulesWaiting, HoldsBackNoClaimThatWantsAsMuch) {
  EXPECT_TRUE(is_busy(claim(patient(kTwo, 50s), 1s)));
  (void)lease_rules::release(record_, kOne, at(2s));
  EXPECT_TRUE(grant(claim(patient(kThree, 50s), 2s)));
  EXPECT_EQ(record_.waits.size(), 1U);
}

TEST_F(LeaseRulesWaiting, IsRememberedOfTheEightThatLastLongest) {
  for (std::uint64_t i = 0; i < 12; ++i) {
    EXPECT_TRUE(is_busy(claim(patient({9, 1 + i}, std::chrono::seconds(20 - i)), 1s)));
    EXPECT_TRUE(is_busy(claim(patient({9, 1 + i}, std::chrono::seconds(20 - i)), 1s)));
  }
  ASSERT_EQ(record_.waits.size(), Claim::kMaxWaiting);
  EXPECT_EQ(record_.waits.front().until, at(21s).time);
  EXPECT_EQ(record_.waits.back().until, at(14s).time);
}

TEST_F(LeaseRulesWaiting, IsForgottenWithTheCapacity) {
  EXPECT_TRUE(is_busy(claim(patient(kTwo, 50s), 1s)));
  (void)lease_rules::release(record_, kOne, at(2s));
  EXPECT_TRUE(grant(claim(wish(kThree), 2s)));
  EXPECT_TRUE(record_.waits.empty());
  EXPECT_TRUE(is_busy(claim(patient(kTwo, 50s, Permits::mutex()), 3s)));
  EXPECT_TRUE(record_.waits.empty());  // nobody can want less than a mutex
}

TEST_F(LeaseRulesWaiting, ALeaseIsNotHandedOnPastIt) {
  EXPECT_TRUE(is_busy(claim(patient(kTwo, 5s), 1s)));
  const Record before = record_;
  EXPECT_TRUE(is_held_back(lease_rules::transfer(record_, kOne, reader(kThree), at(2s))));
  EXPECT_EQ(record_, before);
  EXPECT_TRUE(grant(lease_rules::transfer(record_, kOne, reader(kThree), at(6s))));
}

TEST_F(LeaseRulesWaiting, AHandOverEndsTheWaitOfTheReceiver) {
  (void)lease_rules::release(record_, kOne, at(0s));
  EXPECT_TRUE(grant(claim(patient(kOne, 0s), 0s)));
  EXPECT_TRUE(is_busy(claim(patient(kTwo, 50s), 1s)));
  EXPECT_TRUE(grant(lease_rules::transfer(record_, kOne, patient(kTwo, 50s), at(2s))));
  EXPECT_TRUE(record_.waits.empty());
}

TEST(LeaseRulesTransfer, MayGiveAPartBackToTheSameIdOrToAnother) {
  Record record;
  (void)lease_rules::claim(record, wish(kOne, 10s, Permits::writer()), at(0s, 7));
  (void)lease_rules::claim(record, patient(kThree, 50s), at(0s));  // does not stand in the way
  const lease_rules::Load before = lease_rules::load_of(record);
  const Claim reader = wish(kOne, 20s, Permits::reader());
  EXPECT_EQ(grant(lease_rules::transfer(record, kOne, reader, at(1s))),
            (Grant{base::FencingToken(8), 20s}));
  EXPECT_TRUE(lease_rules::is_eased(before, lease_rules::load_of(record)));
  EXPECT_EQ(grant(lease_rules::transfer(record, kOne, reader, at(2s))),
            (Grant{base::FencingToken(8), 19s}));  // the reply was lost
  EXPECT_TRUE(
      is_conflict(lease_rules::transfer(record, kOne, wish(kOne, 10s, Permits::writer()), at(2s))));
  EXPECT_EQ(record.leases.size(), 1U);

  Record pool;
  (void)lease_rules::claim(pool, wish(kOne, 10s, {3, 4}), at(0s, 7));
  EXPECT_TRUE(grant(lease_rules::transfer(pool, kOne, wish(kTwo, 10s, {1, 4}), at(1s))));
  EXPECT_TRUE(is_conflict(lease_rules::transfer(pool, kOne, wish(kTwo, 10s, {3, 4}), at(1s))));
  EXPECT_TRUE(grant(lease_rules::claim(pool, wish(kThree, 10s, {3, 4}), at(1s))));
}

TEST(LeaseRulesLook, ShowsOnlyLiveLeases) {
  const base::Name name = *base::Name::make("pool");
  Record record;
  EXPECT_FALSE(lease_rules::look(name, record, at(0s)));
  (void)lease_rules::claim(record, wish(kOne, 10s, {1, 2}), at(0s));
  (void)lease_rules::claim(record, wish(kTwo, 5s, {1, 2}), at(1s));
  const auto both = lease_rules::look(name, record, at(2s));
  ASSERT_TRUE(both);
  EXPECT_EQ(both->name, name);
  EXPECT_EQ(both->capacity, 2U);
  ASSERT_EQ(both->holders.size(), 2U);
  EXPECT_EQ(both->holders[1].held_for, 1s);
  EXPECT_EQ(both->holders[1].time_left, 4s);
  EXPECT_EQ(lease_rules::look(name, record, at(6s))->holders.size(), 1U);
  EXPECT_FALSE(lease_rules::look(name, record, at(10s)));
}

}  // namespace
}  // namespace holdfast::store
