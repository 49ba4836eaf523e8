// Names that many hold at the same time: semaphores and reader-writer locks.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/sqlite/internal/lease_codec.h>
#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/engines/sqlite/testing_support.h>
#include <holdfast/store/lease_rules.h>

namespace holdfast::engines::sqlite {
namespace {

using namespace std::chrono_literals;
namespace rules = store::lease_rules;
using base::ErrorCode;
using base::LeaseId;
using store::Claim;
using store::Permits;
using testing::Stranger;

Claim claim_of(const LeaseId& id, Permits permits, base::Ttl ttl = 1h) {
  return {.id = id, .owner = "tester", .reason = "a test", .ttl = ttl, .permits = permits};
}

class SqliteHoldersTest : public ::testing::Test {
 protected:
  std::shared_ptr<SqliteStore> open(const std::string& boot = "a boot") {
    return testing::open(
        {.file = file_, .retention = 1h, .machine = {.clock = &clock_, .boot_id = boot}});
  }
  static LeaseId take(SqliteStore& store, const std::string& name, Permits permits,
                      base::Ttl ttl = 1h) {
    const auto id = LeaseId::generate();
    const auto outcome = store.claim(name, claim_of(id, permits, ttl));
    EXPECT_TRUE(outcome && std::holds_alternative<store::Grant>(*outcome));
    return id;
  }
  static std::size_t holders(SqliteStore& store, const std::string& name) {
    const auto state = base::value_or_throw(store.look(name));
    return state ? state->holders.size() : 0;
  }
  std::string number(const std::string& sql) {
    return Stranger(file_).ask("SELECT CAST((" + sql + ") AS TEXT)");
  }

  testing::Folder folder_;
  base::ManualClock clock_{base::TimePoint(1h)};
  const std::filesystem::path file_ = folder_ / "locks.db";
};

// Counts the work of SQLite in this process, and the leases that are looked at.
class Work {
 public:
  Work() {
    steps = 0;
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(&trace));
  }
  ~Work() { sqlite3_reset_auto_extension(); }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  template <class Operation>
  static std::uint64_t of(Operation operation) {
    const std::uint64_t before = steps + store::Leases::visits();
    operation();
    return steps + store::Leases::visits() - before;
  }

 private:
  static int trace(sqlite3* db, char** /*message*/, const sqlite3_api_routines* /*api*/) {
    return sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, &ended, nullptr);
  }
  static int ended(unsigned /*event*/, void* /*context*/, void* statement, void* /*time*/) {
    steps += static_cast<std::uint64_t>(
        sqlite3_stmt_status(static_cast<sqlite3_stmt*>(statement), SQLITE_STMTSTATUS_VM_STEP, 1));
    return 0;
  }

  inline static thread_local std::uint64_t steps = 0;
};

TEST_F(SqliteHoldersTest, AnOperationOnOneLeaseCostsTheSameHoweverManyHoldTheName) {
  constexpr std::uint32_t kFew = 20;
  constexpr std::uint32_t kMany = 1'000;
  const Work work;
  const auto store = open();
  const auto cost_with = [&](std::uint32_t count) {
    const std::string name = std::to_string(count);
    const auto one = Permits::of(1, count);
    for (std::uint32_t i = 1; i < count; ++i) {
      take(*store, name, one, 1h + std::chrono::seconds(i));
    }
    LeaseId last;
    LeaseId heir = LeaseId::generate();
    const auto ask = [&] { return store->claim(name, claim_of(LeaseId::generate(), one)); };
    std::vector<std::uint64_t> costs;
    costs.push_back(Work::of([&] { last = take(*store, name, one); }));
    costs.push_back(Work::of([&] { EXPECT_TRUE(ask()); }));
    const store::Renewal renewal{.name = name, .id = last, .ttl = 2h};
    costs.push_back(Work::of([&] { EXPECT_TRUE(store->renew({&renewal, 1})); }));
    costs.push_back(
        Work::of([&] { EXPECT_TRUE(store->transfer(name, last, claim_of(heir, one))); }));
    costs.push_back(Work::of([&] { EXPECT_TRUE(store->release(name, heir)); }));
    return costs;
  };
  const std::vector<std::uint64_t> few = cost_with(kFew);
  const std::vector<std::uint64_t> many = cost_with(kMany);
  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_GT(few[i], 0U);
    EXPECT_LE(many[i], 3 * few[i]) << "operation " << i;  // now and then it also cleans up
  }
}

// Random operations on names that up to 300 hold: the store, which reads few of the leases, answers
// as the rules do, which see all of them.
TEST_F(SqliteHoldersTest, WhatItAnswersIsWhatTheRulesSay) {
  const std::vector<Permits> permits{
      Permits::of(1, 300),   Permits::of(1, 300),  Permits::of(1, 300), Permits::of(2, 300),
      Permits::of(290, 300), Permits::of(40, 300), Permits::mutex()};
  std::uint64_t wall = 1'000'000;
  const auto store = testing::open(
      {.file = file_, .machine = {.clock = &clock_, .boot_id = "a boot", .wall_clock = [&] {
                                    return std::chrono::system_clock::time_point(
                                        std::chrono::microseconds(wall));
                                  }}});
  std::mt19937_64 random(7);
  const auto pick = [&](std::uint64_t count) { return random() % count; };
  const std::string name = "pool";
  store::Record record;
  for (int step = 0; step < 4'000; ++step) {
    SCOPED_TRACE(step);
    ++wall;
    clock_.advance(pick(100) == 0 ? base::Duration(pick(20) * 1s) : base::Duration(1ms));
    const store::Instant now{.time = clock_.now(), .token_floor = wall};
    const LeaseId id(5, 1 + pick(400));
    Claim claim = claim_of(id, permits[pick(permits.size())],
                           base::Duration(100ms + std::chrono::milliseconds(pick(60'000))));
    claim.holds_back = pick(50) == 0 ? base::Duration(20ms) : base::Duration::zero();
    switch (pick(8)) {
      case 0: ASSERT_EQ(store->release(name, id), rules::release(record, id, now)); break;
      case 1: {
        const store::Renewal renewal{.name = name, .id = id, .ttl = claim.ttl};
        const auto outcomes = base::value_or_throw(store->renew({&renewal, 1}));
        ASSERT_EQ(outcomes.at(0), rules::renew(record, id, claim.ttl.unchecked(), now));
        break;
      }
      case 2: {
        const LeaseId from(5, 1 + pick(400));
        ASSERT_EQ(store->transfer(name, from, claim), rules::transfer(record, from, claim, now));
        break;
      }
      case 3:
        if (pick(10) == 0) {
          ASSERT_EQ(base::value_or_throw(store->look(name)),
                    rules::look(*base::Name::make(name), record, now));
        }
        break;
      default: ASSERT_EQ(store->claim(name, claim), rules::claim(record, claim, now));
    }
  }
}

// Makes a file as version 1 did: all leases of a name are in its record.
void make_version_1(const std::filesystem::path& file) {
  Stranger stranger(file);
  store::Record record{.last_token = std::stoull(
                           stranger.ask("SELECT CAST(last_token AS TEXT) FROM records WHERE name = "
                                        "CAST('pool' AS BLOB)")),
                       .capacity = 3,
                       .leases = {}};
  const int count = std::stoi(stranger.ask("SELECT CAST(count(*) AS TEXT) FROM leases"));
  for (int i = 0; i < count; ++i) {
    const auto column = [&](const std::string& what) {
      return stranger.ask("SELECT CAST(" + what + " AS TEXT) FROM leases ORDER BY token LIMIT 1 " +
                          "OFFSET " + std::to_string(i));
    };
    const auto time = [&](const std::string& what) {
      return base::TimePoint(base::Duration(std::stoll(column(what))));
    };
    record.leases.insert({.id = *LeaseId::parse(column("id")),
                          .owner = column("owner"),
                          .reason = column("reason"),
                          .token = base::FencingToken(std::stoull(column("token"))),
                          .granted = time("granted"),
                          .expires = time("expires")});
  }
  std::string bytes;
  internal::encode_leases(record, bytes);
  std::string hex;
  for (const char c : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    hex += kDigits[static_cast<unsigned char>(c) >> 4U];
    hex += kDigits[static_cast<unsigned char>(c) & 0xfU];
  }
  stranger.run("UPDATE records SET leases = x'" + hex + "' WHERE name = CAST('pool' AS BLOB); " +
               "DROP TABLE leases; PRAGMA user_version = 1");
}

TEST_F(SqliteHoldersTest, AFileOfVersion1KeepsWhatIsHeldInIt) {
  const auto one = Permits::of(1, 3);
  auto store = open();
  const LeaseId first = take(*store, "pool", one);
  const LeaseId second = take(*store, "pool", one);
  const LeaseId mutex = take(*store, "mutex", Permits::mutex());
  const auto before = base::value_or_throw(store->look("pool"));
  store.reset();
  make_version_1(file_);

  store = open();
  EXPECT_EQ(base::value_or_throw(store->look("pool")), before);
  EXPECT_EQ(base::value_or_throw(store->list("")).names.size(), 2U);
  EXPECT_EQ(store->release("mutex", mutex), store::ReleaseOutcome::released);
  take(*store, "pool", one);
  EXPECT_EQ(holders(*store, "pool"), 3U);
  const auto refused = store->claim("pool", claim_of(LeaseId::generate(), one));
  EXPECT_TRUE(refused && std::holds_alternative<store::Busy>(*refused));
  EXPECT_EQ(store->release("pool", first), store::ReleaseOutcome::released);
  EXPECT_EQ(store->release("pool", second), store::ReleaseOutcome::released);
  EXPECT_EQ(holders(*store, "pool"), 1U);
  EXPECT_EQ(number("SELECT count(*) FROM leases"), "1");
  EXPECT_EQ(number("SELECT user_version FROM pragma_user_version"), "2");
}

TEST_F(SqliteHoldersTest, ABootEndsAllLeasesOfAName) {
  auto store = open();
  take(*store, "pool", Permits::of(3, 3));
  store.reset();
  store = open("another boot");
  EXPECT_EQ(holders(*store, "pool"), 0U);
  EXPECT_EQ(number("SELECT count(*) FROM leases"), "0");
  take(*store, "pool", Permits::of(3, 3));
}

TEST_F(SqliteHoldersTest, LeasesThatHaveEndedAreForgottenWithTheirName) {
  const auto store = open();
  take(*store, "pool", Permits::of(1, 3), 1s);
  take(*store, "pool", Permits::of(1, 3), 1s);
  clock_.advance(2h);
  EXPECT_EQ(base::value_or_throw(store->list("")).names.size(), 0U);
  EXPECT_EQ(store->sweep_now(), 1U);
  EXPECT_EQ(number("SELECT count(*) FROM leases"), "0");
}

TEST_F(SqliteHoldersTest, AFreeNameMayGetAnotherCapacity) {
  const auto store = open();
  for (const Permits permits : {Permits::of(1, 3), Permits::mutex(), Permits::of(2, 2)}) {
    take(*store, "pool", permits, 1s);
    EXPECT_EQ(holders(*store, "pool"), 1U);
    EXPECT_EQ(number("SELECT count(*) FROM leases"), permits.capacity > 1 ? "1" : "0");
    clock_.advance(1min);
  }
}

TEST_F(SqliteHoldersTest, LeasesThatCannotBeAreCorruptAndSpoilNoOtherName) {
  for (const std::string change :
       {"DELETE FROM leases", "UPDATE leases SET permits = 4", "UPDATE leases SET owner = x''",
        "UPDATE leases SET token = token + 1000000000000", "UPDATE leases SET id = 'x' || id",
        "UPDATE leases SET expires = granted"}) {
    SCOPED_TRACE(change);
    const auto store = open();
    take(*store, change, Permits::of(2, 3));
    Stranger(file_).run(change);
    EXPECT_EQ(store->look(change).error().code, ErrorCode::corrupt);
    const auto claim = claim_of(LeaseId::generate(), Permits::of(2, 3));
    EXPECT_EQ(store->claim(change, claim).error().code, ErrorCode::corrupt);
    take(*store, "another", Permits::of(1, 100));
    Stranger(file_).run("DELETE FROM leases; DELETE FROM records");
  }
}

}  // namespace
}  // namespace holdfast::engines::sqlite
