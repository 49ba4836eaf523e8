#include <tests/redis/redis_test.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using store::Claim;
using store::Grant;
using store::Permits;
using store::ReleaseOutcome;
using store::RenewOutcome;

using Layout = RedisTest;

TEST_F(Layout, AMutexIsAStringAtTheNameWithTheLeaseIdAndAnExpiry) {
  const Claim claim = wish({}, 30s);
  expect<Grant>(store_->claim("job", claim));
  EXPECT_EQ(run({"GET", "job"}), to_string(claim.id));
  const int left = std::stoi(run({"PTTL", "job"}));
  EXPECT_GT(left, 0);
  EXPECT_LE(left, 30'002);
  EXPECT_EQ(release("job", claim.id), ReleaseOutcome::released);
  EXPECT_EQ(run({"EXISTS", "job"}), "0");
}

TEST_F(Layout, OtherPermitsLeaveTheNameItselfAlone) {
  const Claim claim = wish(Permits::of(1, 2));
  expect<Grant>(store_->claim("pool", claim));
  EXPECT_EQ(run({"EXISTS", "hf:{pool}", "hfe:{pool}"}), "2");
  EXPECT_EQ(run({"DBSIZE"}), "2");
  release("pool", claim.id);
  EXPECT_EQ(run({"KEYS", "*"}), "[hf:{pool}]");
}

// The default is an hour.
TEST_F(Layout, AReleasedNameIsRememberedForItsRetentionAndNotMuchLonger) {
  for (const Permits permits : {Permits::mutex(), Permits::of(1, 2)}) {
    for (const base::Duration ttl : {base::Duration(30s), base::Duration(24h * 300)}) {
      const std::string name = "job" + std::to_string(permits.capacity) + std::to_string(ttl / 1s);
      const Claim claim = wish(permits, ttl);
      expect<Grant>(store_->claim(name, claim));
      EXPECT_EQ(release(name, claim.id), ReleaseOutcome::released);
      const auto left = std::chrono::milliseconds(std::stoll(run({"PTTL", "hf:{" + name + "}"})));
      EXPECT_GT(left, 59min) << name;
      EXPECT_LE(left, 150min) << name;
    }
  }
}

TEST_F(Layout, AMutexThatIsTakenAgainAndAgainIsRememberedAllTheTime) {
  const Claim first = wish({}, 30s);
  expect<Grant>(store_->claim("job", first));
  release("job", first.id);
  for (const auto left : {1s, 3631s, 3700s}) {  // of the note's time
    run({"EXPIRE", "hf:{job}", std::to_string(left / 1s)});
    const std::string note = run({"GET", "hf:{job}"});
    const std::string until = std::to_string(std::stoll(run({"TIME"}).substr(1)) + left / 1s);
    run({"SET", "hf:{job}", note.substr(0, 17) + until + note.substr(27), "KEEPTTL"});
    const Claim claim = wish({}, 30s);
    expect<Grant>(store_->claim("job", claim));
    EXPECT_GE(std::stoll(run({"PTTL", "hf:{job}"})), 3'600'000 + 29'000) << left / 1s;
    release("job", claim.id);
  }
}

TEST_F(Layout, TheNoteIsTheLastToGoWhateverTheRetention) {
  engines::redis::RedisOptions options{.host = "127.0.0.1", .port = server_.port()};
  for (const auto retention : {0ms, 1ms, 498ms, 999ms, 1001ms}) {
    options.retention = retention;
    const auto store = base::value_or_throw(engines::redis::open_store(options));
    for (int i = 0; i < 20; ++i) {
      const Claim claim = wish({}, 29'500ms);
      expect<Grant>(store->claim("job", claim));
      const auto margin = std::stoll(run({"EVAL",
                                          "return redis.call('PTTL', 'hf:{job}') - "
                                          "redis.call('PTTL', 'job')",
                                          "0"}));
      EXPECT_GE(margin, retention / 1ms) << retention / 1ms;
      release("job", claim.id);
    }
  }
}

TEST_F(Layout, AClockThatGoesBackLeavesNothingUnreadable) {
  std::chrono::microseconds now = 1'700'000'000s;
  const auto store = base::value_or_throw(engines::redis::open_store(
      {.host = "127.0.0.1", .port = server_.port()}, [&] { return now; }));
  const Claim first = wish({}, 30s);
  const Grant before = expect<Grant>(store->claim("job", first));
  now -= 50ms;
  EXPECT_EQ(store->release("job", first.id), ReleaseOutcome::released);
  EXPECT_EQ(base::value_or_throw(store->look("job")), std::nullopt);
  EXPECT_GT(expect<Grant>(store->claim("job", wish())).token, before.token);
}

TEST_F(Layout, TokensGrowThoughTheServersClockWasSetBack) {
  const auto tomorrow = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch() + 24h);
  const auto ahead = base::value_or_throw(engines::redis::open_store(
      {.host = "127.0.0.1", .port = server_.port()}, [&] { return tomorrow; }));
  const Claim first = wish({}, 30s);
  const Grant before = expect<Grant>(ahead->claim("job", first));
  EXPECT_EQ(ahead->release("job", first.id), ReleaseOutcome::released);
  EXPECT_GT(expect<Grant>(store_->claim("job", wish())).token, before.token);
}

TEST_F(Layout, EveryKeyExpires) {
  expect<Grant>(store_->claim("mutex", wish()));
  expect<Grant>(store_->claim("pool", wish(Permits::of(1, 2))));
  Claim waiting = wish(Permits::of(2, 2));
  waiting.holds_back = 1min;
  expect<store::Busy>(store_->claim("pool", waiting));
  ASSERT_TRUE(store_->hit("hits", {.limit = 2, .period = 1min}));
  ASSERT_TRUE(
      store_->hit("sliding", {.limit = 2, .period = 1min, .window = store::Window::sliding}));
  const auto watch = store_->watch("mutex", [](const auto&) {});
  expect<store::Busy>(store_->claim("mutex", wish()));
  const std::string script =
      "for _, key in ipairs(redis.call('KEYS', '*')) do "
      "if redis.call('PTTL', key) < 0 then return key end end return 'none'";
  EXPECT_EQ(run({"EVAL", script, "0"}), "none");
  EXPECT_EQ(run({"ZCARD", "hfq:{mutex}"}), "1");
}

TEST_F(Layout, NamesThatLookLikeOurOwnKeysAreNamesAsAnyOther) {
  const std::vector<std::string> names{"a",    "{a}",     "hf:{a}",    "hf:{a}x", "hfq:{a}",
                                       "hf:=", "hf~hf:a", "hf~hf:{a}", "hf:hf:a", "hf~"};
  std::vector<Claim> claims;
  for (const std::string& name : names) {
    claims.push_back(wish());
    expect<Grant>(store_->claim(name, claims.back()));
  }
  EXPECT_EQ(base::value_or_throw(store_->list("")).names.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(holders(names[i]).at(0).id, claims[i].id) << names[i];
    EXPECT_EQ(release(names[i], claims[i].id), ReleaseOutcome::released) << names[i];
  }
}

TEST_F(Layout, ADamagedRecordIsATypedErrorAndTakesNothingElseWithIt) {
  const Claim good = wish();
  expect<Grant>(store_->claim("good", good));
  const auto id = base::LeaseId::generate();
  run({"HSET", "hf:{bad}", to_string(id), "not a lease"});
  EXPECT_EQ(store_->claim("bad", wish()).error().code, ErrorCode::corrupt);
  for (const std::string note : {"not a note", "1", "", "1234567890123456 tomorrow 1 1 ab 1 x"}) {
    run({"SET", "hf:{bad note}", note});
    EXPECT_EQ(store_->claim("bad note", wish()).error().code, ErrorCode::corrupt) << note;
    EXPECT_EQ(run({"EXISTS", "bad note"}), "0") << note;
  }
  const std::vector<store::Renewal> batch{{.name = "bad", .id = id, .ttl = 1min},
                                          {.name = "good", .id = good.id, .ttl = 1min}};
  EXPECT_EQ(base::value_or_throw(store_->renew(batch)),
            (std::vector{RenewOutcome::failed, RenewOutcome::renewed}));
  EXPECT_EQ(base::value_or_throw(store_->list("")).names.size(), 1U);
  EXPECT_EQ(run({"HGET", "hf:{bad}", to_string(id)}), "not a lease");
}

TEST_F(Layout, WhatIsHeldCanBeRenewedAndReleasedWhenTheMemoryIsFull) {
  const Claim claim = wish({}, 1min);
  expect<Grant>(store_->claim("job", claim));
  run({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(store_->claim("other", wish()).error().code, ErrorCode::unavailable);
  EXPECT_EQ(renew("job", claim.id), RenewOutcome::renewed);
  EXPECT_EQ(release("job", claim.id), ReleaseOutcome::released);
}

}  // namespace
}  // namespace holdfast::tests
