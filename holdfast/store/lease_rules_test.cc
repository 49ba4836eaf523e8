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
  EXPECT_EQ(record.leases[0],
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

TEST(LeaseRulesClaim, AgainWithTheSameIdIsTheSameGrantAndNotExtended) {
  Record record;
  const auto first = grant(lease_rules::claim(record, wish(kOne, 10s), at(0s, 7)));
  const auto again = grant(lease_rules::claim(record, wish(kOne, 99s), at(4s, 900)));
  ASSERT_TRUE(first && again);
  EXPECT_EQ(again->token, first->token);
  EXPECT_EQ(again->time_left, 6s);
  EXPECT_EQ(record.leases.size(), 1U);
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
  EXPECT_TRUE(is_conflict(lease_rules::hit(record, 1, 1s, at(5s))));
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
  EXPECT_EQ(record.leases[0].expires, at(15s).time);
  EXPECT_EQ(lease_rules::renew(record, kOne, 1s, at(6s)), RenewOutcome::renewed);
  EXPECT_EQ(record.leases[0].expires, at(15s).time);
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
  EXPECT_EQ(record.leases[0].id, kTwo);
  EXPECT_EQ(record.leases[0].granted, at(4s).time);
  EXPECT_EQ(grant(lease_rules::transfer(record, kOne, wish(kTwo, 20s), at(5s))),
            (Grant{base::FencingToken(8), 19s}));
}

TEST(LeaseRulesTransfer, FromWhatIsGoneIsLost) {
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
  EXPECT_EQ(record.leases[0].id, kTwo);
  EXPECT_EQ(record.leases[1].id, kThree);
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
  EXPECT_EQ(record.leases[0].id, kTwo);
  EXPECT_EQ(lease_rules::release(record, kTwo, at(10s)), ReleaseOutcome::not_held);
}

TEST(LeaseRulesRelease, KeepsTheLastToken) {
  Record record;
  (void)lease_rules::claim(record, wish(kOne), at(0s, 41));
  (void)lease_rules::release(record, kOne, at(0s));
  EXPECT_TRUE(lease_rules::is_tombstone(record, at(0s)));
  EXPECT_EQ(record.last_token, 41U);
}

TEST(LeaseRulesHit, CountsInAWindowThatStartsWithItsFirstHit) {
  Record record;
  EXPECT_EQ(lease_rules::hit(record, 2, 10s, at(1s)), (HitOutcome{true, 1, 10s}));
  EXPECT_EQ(lease_rules::hit(record, 2, 10s, at(5s)), (HitOutcome{true, 0, 6s}));
  EXPECT_EQ(lease_rules::hit(record, 2, 10s, at(6s)), (HitOutcome{false, 0, 5s}));
  EXPECT_EQ(lease_rules::hit(record, 2, 10s, at(11s)), (HitOutcome{true, 1, 10s}));
}

TEST(LeaseRulesHit, WithALowerLimitThanBeforeIsRefused) {
  Record record;
  (void)lease_rules::hit(record, 5, 10s, at(0s));
  (void)lease_rules::hit(record, 5, 10s, at(0s));
  EXPECT_EQ(lease_rules::hit(record, 1, 10s, at(0s)), (HitOutcome{false, 0, 10s}));
}

TEST(LeaseRulesHit, AndLeasesExcludeEachOtherWhileTheyLive) {
  Record record;
  (void)lease_rules::hit(record, 1, 10s, at(0s));
  EXPECT_TRUE(is_conflict(lease_rules::claim(record, wish(kOne), at(9s))));
  EXPECT_FALSE(lease_rules::is_tombstone(record, at(9s)));
  EXPECT_TRUE(grant(lease_rules::claim(record, wish(kOne, 10s), at(10s))));
  EXPECT_TRUE(is_conflict(lease_rules::hit(record, 1, 10s, at(19s))));
  EXPECT_TRUE(lease_rules::hit(record, 1, 10s, at(20s)));
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
