// A name with many holders: what an operation on one lease costs the server, and what a refusal
// says.

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>

#include <tests/redis/redis_test.h>

#include <holdfast/store/lease_rules.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using store::Busy;
using store::Claim;
using store::Grant;
using store::Permits;
using store::ReleaseOutcome;
using store::RenewOutcome;

class ManyHolders : public RedisTest {
 protected:
  void add_readers(const std::string& name, int count) {
    for (int i = 0; i < count; ++i) {
      expect<Grant>(store_->claim(name, wish(Permits::reader())));
    }
  }

  // Returns how many commands the server has run since its figures were reset, those in scripts
  // included. An expiry that is as long as needed already, to the millisecond, is not set again:
  // those do not count.
  int commands() {
    std::istringstream stats(run({"INFO", "commandstats"}));
    int sum = 0;
    for (std::string line; std::getline(stats, line);) {
      const std::size_t found = line.find(":calls=");
      sum += found == std::string::npos ? 0 : std::stoi(line.substr(found + 7));
    }
    return sum - calls("pexpire");
  }

  // Does what readers and writers do, once each, and returns how many commands that took.
  int commands_for_each_operation(const std::string& name) {
    run({"CONFIG", "RESETSTAT"});
    const Claim one = wish(Permits::reader());
    const Claim two = wish(Permits::reader());
    Claim writer = wish(Permits::writer());
    expect<Grant>(store_->claim(name, one));
    expect<Grant>(store_->claim(name, one));
    expect<Busy>(store_->claim(name, writer));
    EXPECT_EQ(renew(name, one.id), RenewOutcome::renewed);
    expect<Grant>(store_->transfer(name, one.id, two));
    writer.holds_back = 1min;
    expect<Busy>(store_->claim(name, writer));
    expect<Busy>(store_->claim(name, one));
    EXPECT_EQ(release(name, writer.id), ReleaseOutcome::not_held);
    EXPECT_EQ(release(name, two.id), ReleaseOutcome::released);
    EXPECT_EQ(release(name, two.id), ReleaseOutcome::not_held);
    EXPECT_EQ(store_->claim(name, wish()).error().code, ErrorCode::conflict);
    EXPECT_EQ(calls("hgetall"), 0);
    EXPECT_EQ(calls("hvals"), 0);
    return commands();
  }
};

TEST_F(ManyHolders, CostAnOperationOnOneOfThemNoMoreThanFewDo) {
  add_readers("few", 20);
  add_readers("many", 600);
  (void)commands_for_each_operation("few");  // the server learns the scripts
  EXPECT_EQ(commands_for_each_operation("few"), commands_for_each_operation("many"));
}

TEST_F(ManyHolders, AreNamedByARefusalUpToSixteenOfThemAndByALookAll) {
  add_readers("book", 40);
  const Busy busy = expect<Busy>(store_->claim("book", wish(Permits::writer())));
  EXPECT_EQ(busy.holders.size(), 16U);
  EXPECT_TRUE(std::ranges::is_sorted(busy.holders, {}, &store::Holder::token));
  EXPECT_EQ(holders("book").size(), 40U);
}

// Leases of a name by a time that the test sets, and the same under the rules.
class CountedByTime : public ManyHolders {
 protected:
  void hold(base::Duration ttl, Permits permits) {
    const Claim claim = wish(permits, ttl);
    expect<Grant>(timed_->claim("pool", claim));
    expect<Grant>(store::lease_rules::claim(record_, claim, instant()));
  }
  base::Duration frees_in(Permits permits) {
    return expect<Busy>(timed_->claim("pool", wish(permits))).frees_in;
  }
  base::Duration frees_in_by_the_rules(Permits permits) {
    return expect<Busy>(store::lease_rules::claim(record_, wish(permits), instant())).frees_in;
  }
  [[nodiscard]] store::Instant instant() const {
    return {.time = base::TimePoint(now_), .token_floor = static_cast<std::uint64_t>(now_.count())};
  }

  std::chrono::microseconds now_ = 1'700'000'000s;
  std::unique_ptr<store::LeaseStore> timed_ = base::value_or_throw(engines::redis::open_store(
      {.host = "127.0.0.1", .port = server_.port()}, [this] { return now_; }));
  store::Record record_;
};

TEST_F(CountedByTime, ARefusalSaysWhenEnoughLeasesWillHaveEnded) {
  constexpr std::uint32_t kCapacity = 200;
  for (std::uint32_t i = 0, used = 0; used < kCapacity; ++i) {
    const std::uint32_t permits = std::min(1 + i % 3, kCapacity - used);
    hold(std::chrono::seconds(1 + (i * 37) % 101), Permits::of(permits, kCapacity));
    used += permits;
  }
  for (std::uint32_t wanted = 1; wanted <= kCapacity; ++wanted) {
    const Permits permits = Permits::of(wanted, kCapacity);
    EXPECT_EQ(frees_in(permits), frees_in_by_the_rules(permits)) << wanted;
  }
}

TEST_F(CountedByTime, WhereTooManyLeasesWouldHaveToBeReadTheTimeIsNoLaterThanTheRightOne) {
  constexpr std::uint32_t kCapacity = 400;
  for (std::uint32_t i = 1; i <= kCapacity; ++i) {
    hold(std::chrono::seconds(i), Permits::of(1, kCapacity));
  }
  const Permits half = Permits::of(kCapacity / 2, kCapacity);
  EXPECT_EQ(frees_in_by_the_rules(half), 128s);
  EXPECT_EQ(frees_in(half), 128s);
}

TEST_F(CountedByTime, ARefusalNamesTheHoldersThatTheRulesName) {
  constexpr std::uint32_t kCapacity = 60;
  for (std::uint32_t i = 0; i < kCapacity; ++i) {
    hold(std::chrono::seconds(1 + (i * 37) % 11), Permits::of(1, kCapacity));
  }
  const Claim claim = wish(Permits::of(1, kCapacity));
  const Busy busy = expect<Busy>(timed_->claim("pool", claim));
  EXPECT_EQ(busy.holders.size(), 16U);
  EXPECT_EQ(busy, expect<Busy>(store::lease_rules::claim(record_, claim, instant())));
}

TEST_F(CountedByTime, LeasesThatEndTogetherLeaveInPartsAndNobodyGetsInTooEarly) {
  constexpr std::uint32_t kCapacity = 1'100;
  for (std::uint32_t i = 0; i < kCapacity - 1; ++i) {
    expect<Grant>(timed_->claim("pool", wish(Permits::of(1, kCapacity), 1s)));
  }
  expect<Grant>(timed_->claim("pool", wish(Permits::of(1, kCapacity), 1min)));
  now_ += 1s;
  const Permits rest = Permits::of(kCapacity - 1, kCapacity);
  const Busy busy = expect<Busy>(timed_->claim("pool", wish(rest)));
  EXPECT_EQ(busy.frees_in, 0s);
  EXPECT_EQ(busy.holders.size(), 1U);
  expect<Grant>(timed_->claim("pool", wish(rest)));
  expect<Busy>(timed_->claim("pool", wish(Permits::of(1, kCapacity))));
}

TEST_F(CountedByTime, LeasesThatEndTogetherKeepNoClaimOutThatFitsBesideThem) {
  for (int i = 0; i < 1'100; ++i) {
    expect<Grant>(timed_->claim("book", wish(Permits::reader(), 1s)));
  }
  now_ += 1s;
  expect<Grant>(timed_->claim("book", wish(Permits::reader())));
}

// A former version of Holdfast knows neither the count of a name nor the key that begins with hfe:.
class FormerVersion : public RedisTest {
 protected:
  // Grants one permit of two.
  base::LeaseId grant(std::chrono::seconds ttl = 600s) {
    const base::LeaseId id = base::LeaseId::generate();
    const std::string token = std::to_string(server_seconds() + tokens_++) + "000000";
    run({"HSET", "hf:{pool}", "token", token});
    write(id, token, ttl);
    return id;
  }
  void write(const base::LeaseId& id, const std::string& token, std::chrono::seconds ttl) {
    const std::string expires = std::to_string(server_seconds() + ttl.count()) + "000000";
    run({"HSET", "hf:{pool}", to_string(id), expires + " 1 2 " + token + " " + token + " 4 them"});
  }
  void remove(const base::LeaseId& id) { run({"HDEL", "hf:{pool}", to_string(id)}); }
  void expect_busy() { expect<Busy>(store_->claim("pool", wish(Permits::of(1, 2)))); }
  base::LeaseId expect_grant() {
    const Claim claim = wish(Permits::of(1, 2));
    expect<Grant>(store_->claim("pool", claim));
    return claim.id;
  }

 private:
  long long server_seconds() { return std::stoll(run({"TIME"}).substr(1)); }

  int tokens_ = 1;
};

TEST_F(FormerVersion, ItsLeasesAreCountedAndCanBeRenewedAndReleased) {
  const base::LeaseId one = grant();
  const base::LeaseId two = grant();
  expect_busy();
  EXPECT_EQ(renew("pool", one), RenewOutcome::renewed);
  expect_busy();
  EXPECT_EQ(release("pool", two), ReleaseOutcome::released);
  expect_grant();
  expect_busy();
}

TEST_F(FormerVersion, WhatItGrantsAndReleasesMeanwhileIsSeen) {
  const base::LeaseId ours = expect_grant();
  const base::LeaseId theirs = grant();
  expect_busy();
  remove(theirs);
  expect_grant();
  remove(ours);
  grant();
  expect_busy();
  EXPECT_EQ(holders("pool").size(), 2U);
}

TEST_F(FormerVersion, ALeaseThatItRenewsDoesNotEndBefore) {
  std::chrono::microseconds now = 1'700'000'000s;
  const auto store = base::value_or_throw(engines::redis::open_store(
      {.host = "127.0.0.1", .port = server_.port()}, [&] { return now; }));
  const Claim claim = wish(Permits::writer(), 10s);
  const Grant granted = expect<Grant>(store->claim("pool", claim));
  const std::string token = std::to_string(granted.token.value());
  run({"HSET", "hf:{pool}", to_string(claim.id),
       "1700000020000000 " + std::to_string(Permits::writer().count) + " " +
           std::to_string(Permits::writer().capacity) + " " + token + " " + token + " 4 them"});
  now += 15s;
  EXPECT_EQ(expect<Busy>(store->claim("pool", wish(Permits::reader()))).frees_in, 5s);
  now += 5s;
  expect<Grant>(store->claim("pool", wish(Permits::reader())));
}

TEST_F(FormerVersion, AKeyThatWasLostIsMadeAgain) {
  const base::LeaseId one = expect_grant();
  expect_grant();
  EXPECT_EQ(run({"DEL", "hfe:{pool}"}), "1");
  expect_busy();
  EXPECT_EQ(run({"ZCARD", "hfe:{pool}"}), "2");
  EXPECT_GT(std::stoi(run({"PTTL", "hfe:{pool}"})), 0);
  EXPECT_EQ(release("pool", one), ReleaseOutcome::released);
  expect_grant();
}

}  // namespace
}  // namespace holdfast::tests
