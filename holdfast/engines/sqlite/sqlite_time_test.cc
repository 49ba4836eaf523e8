// Boots, wall clocks, clean-up: whatever happens to time, leases end and tokens grow.
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/engines/sqlite/testing_support.h>

namespace holdfast::engines::sqlite {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using base::LeaseId;
using testing::is_held;
using testing::take;

class SqliteTimeTest : public ::testing::Test {
 protected:
  std::shared_ptr<SqliteStore> open(const std::string& boot, std::string_view file = "locks.db") {
    return testing::open(
        {.file = folder_ / file,
         .retention = 1h,
         .machine = {.clock = &clock_, .boot_id = boot, .wall_clock = [this] { return wall_; }}});
  }
  std::string rows() {
    return testing::Stranger(folder_ / "locks.db").ask("SELECT count(*) FROM records");
  }
  // Copies in another process: if this one closed the file, it would lose SQLite's locks on it.
  void copy(std::string_view from, std::string_view to) {
    for (const std::string suffix : {"", "-wal"}) {
      std::string command = "cp ";
      command += (folder_ / from).string() + suffix + " ";
      command += (folder_ / to).string() + suffix;
      ASSERT_EQ(std::system(command.c_str()), 0);
    }
  }

  testing::Folder folder_;
  base::ManualClock clock_{base::TimePoint(1h)};
  std::chrono::system_clock::time_point wall_{std::chrono::days(20'000)};
};

TEST_F(SqliteTimeTest, ATokenIsTheWallClockInMicrosecondsOrTheNextOne) {
  const auto store = open("first");
  const auto micros = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(wall_.time_since_epoch()).count());
  EXPECT_EQ(testing::use(*store, "a"), micros);
  EXPECT_EQ(testing::use(*store, "a"), micros + 1);
  EXPECT_EQ(testing::use(*store, "b"), micros);
  wall_ += 1s;
  EXPECT_EQ(testing::use(*store, "a"), micros + 1'000'000);
}

TEST_F(SqliteTimeTest, ARebootEndsLeasesAndWindowsButNotTokens) {
  std::uint64_t last = 0;
  {
    const auto store = open("first");
    last = take(*store, "a", LeaseId::generate(), 24h);
    ASSERT_TRUE(store->hit("counts", {.limit = 1, .period = 24h})->allowed);
    EXPECT_FALSE(store->hit("counts", {.limit = 1, .period = 24h})->allowed);
  }
  EXPECT_TRUE(is_held(*open("first"), "a"));

  // The boot clock is the same: only the boot id tells.
  const auto store = open("second");
  EXPECT_FALSE(is_held(*store, "a"));
  EXPECT_TRUE(store->list("")->names.empty());
  EXPECT_GT(take(*store, "a", LeaseId::generate()), last);
  EXPECT_TRUE(is_held(*store, "a"));
  EXPECT_TRUE(store->hit("counts", {.limit = 1, .period = 24h})->allowed);
}

TEST_F(SqliteTimeTest, ALeaseOfTheBootBeforeCannotBeRenewedTransferredOrReleased) {
  const auto id = LeaseId::generate();
  take(*open("first"), "a", id, 24h);
  const auto store = open("second");
  const store::Renewal renewal{.name = "a", .id = id, .ttl = 1h};
  EXPECT_EQ(store->renew(std::span(&renewal, 1))->front(), store::RenewOutcome::lost);
  EXPECT_TRUE(std::holds_alternative<store::Lost>(
      *store->transfer("a", id, testing::claim_of(LeaseId::generate()))));
  EXPECT_EQ(store->release("a", id), store::ReleaseOutcome::not_held);
}

TEST_F(SqliteTimeTest, AStoreThatSeesItsFileGoOnToAnotherBootGrantsNothing) {
  const auto here = open("first");
  take(*here, "a", LeaseId::generate());
  const auto elsewhere = open("second");  // another machine, through a network file system
  const auto outcome = here->claim("b", testing::claim_of(LeaseId::generate()));
  EXPECT_EQ(outcome.error().code, ErrorCode::conflict);
  EXPECT_EQ(here->look("a").error().code, ErrorCode::conflict);
  take(*elsewhere, "b", LeaseId::generate());
}

// Runs the body in a new time namespace whose boot clock is ahead by that many seconds; 254 if
// the kernel does not allow it.
int in_time_namespace(int seconds, const std::function<int()>& body) {
  return testing::in_child([&] {
    constexpr int kNotAllowed = 254;
    if (unshare(CLONE_NEWTIME) != 0) {
      return kNotAllowed;
    }
    std::ofstream offsets("/proc/self/timens_offsets");
    offsets << "boottime " << seconds << " 0\n" << std::flush;
    return offsets ? testing::in_child(body) : kNotAllowed;
  });
}

TEST_F(SqliteTimeTest, ALeaseIsHeldInEveryTimeNamespace) {
  const auto file = folder_ / "locks.db";
  take(*testing::open({.file = file}), "a", LeaseId::generate(), 60s);
  const int found = in_time_namespace(1000, [&] {
    const auto store = testing::open({.file = file});
    const auto outcome = store->claim("a", testing::claim_of(LeaseId::generate()));
    const bool is_busy = outcome && std::holds_alternative<store::Busy>(*outcome);
    take(*store, "b", LeaseId::generate(), 60s);
    return is_busy ? 0 : 1;
  });
  if (found == 254) {
    GTEST_SKIP() << "this kernel does not let a test make a time namespace";
  }
  EXPECT_EQ(found, 0) << "the lease of another time namespace does not exclude";
  const auto store = testing::open({.file = file});
  ASSERT_TRUE(is_held(*store, "b"));
  EXPECT_LE((*store->look("b"))->holders[0].time_left, 60s);
}

TEST_F(SqliteTimeTest, AWallClockThatIsSetChangesNoLease) {
  const auto store = open("first");
  take(*store, "a", LeaseId::generate(), 10s);
  wall_ += std::chrono::years(5);
  EXPECT_TRUE(is_held(*store, "a"));
  wall_ -= std::chrono::years(10);
  clock_.advance(10s - 1ns);
  EXPECT_TRUE(is_held(*store, "a"));
  clock_.advance(1ns);
  EXPECT_FALSE(is_held(*store, "a"));
}

TEST_F(SqliteTimeTest, TokensGrowWhileTheWallClockGoesBackAcrossRestartCleanUpAndReboot) {
  std::uint64_t last = 0;
  auto store = open("first");
  const auto grows = [&] {
    wall_ -= std::chrono::days(100);
    const std::uint64_t token = testing::use(*store, "a");
    EXPECT_GT(token, std::exchange(last, token));
  };
  grows();
  grows();
  store.reset();
  store = open("first");
  grows();
  clock_.advance(1h);
  EXPECT_EQ(store->sweep_now(), 1U);
  grows();
  clock_.advance(1h);
  EXPECT_EQ(store->sweep_now(), 1U);
  store.reset();
  store = open("second");
  grows();
  wall_ = {};
  wall_ += std::chrono::days(100);
  grows();
}

TEST_F(SqliteTimeTest, ATokenThatAPowerCutHasUndoneDoesNotComeAgain) {
  const auto store = open("first");
  std::string synced;
  for (int i = 0; i < 12; ++i) {
    wall_ += 17min;
    const std::uint64_t undone = testing::use(*store, "a");
    // The ceiling is synced when it is raised. Of what came after that, the disk may have nothing.
    const std::string ceiling =
        testing::Stranger(folder_ / "locks.db").ask("SELECT ceiling FROM meta");
    if (std::exchange(synced, ceiling) != ceiling) {
      copy("locks.db", "disk.db");
      continue;
    }
    const std::string after = "after" + std::to_string(i) + ".db";
    copy("disk.db", after);
    wall_ -= 48h;
    EXPECT_GT(testing::use(*open("second", after), "a"), undone);
    wall_ += 48h;
  }
}

TEST_F(SqliteTimeTest, NamesThatAreNoLongerUsedAreForgottenAlongTheWay) {
  const auto store = open("first");
  for (int i = 0; i < 300; ++i) {
    testing::use(*store, "once/" + std::to_string(i));
  }
  take(*store, "held", LeaseId::generate(), 24h);
  ASSERT_TRUE(store->hit("counts", {.limit = 3, .period = 24h}).has_value());
  EXPECT_EQ(rows(), "302");
  clock_.advance(1h);
  for (int i = 0; i < 300; ++i) {
    testing::use(*store, "often");
  }
  EXPECT_EQ(rows(), "3");
  EXPECT_TRUE(is_held(*store, "held"));
  EXPECT_EQ(store->hit("counts", {.limit = 3, .period = 24h})->remaining, 1U);
}

TEST_F(SqliteTimeTest, ASweepForgetsAllThatItMayWhereverTheWalkHasCome) {
  const auto store = open("first");
  for (int i = 0; i < 300; ++i) {
    testing::use(*store, "once/" + std::to_string(i));
  }
  EXPECT_NE(testing::Stranger(folder_ / "locks.db").ask("SELECT swept_until FROM meta"), "");
  clock_.advance(1h);
  EXPECT_EQ(store->sweep_now(), 300U);
}

TEST_F(SqliteTimeTest, NothingIsForgottenBeforeTheRetentionHasPassed) {
  const auto store = open("first");
  testing::use(*store, "released");
  take(*store, "expires", LeaseId::generate(), 10min);
  clock_.advance(1h - 1ns);
  EXPECT_EQ(store->sweep_now(), 0U);
  clock_.advance(1ns);
  EXPECT_EQ(store->sweep_now(), 1U);
  clock_.advance(10min);
  EXPECT_EQ(store->sweep_now(), 1U);
  EXPECT_EQ(rows(), "0");
}

TEST_F(SqliteTimeTest, WhatIsLeftOfTheBootBeforeIsForgotten) {
  take(*open("first"), "a", LeaseId::generate(), 24h);
  EXPECT_EQ(open("second")->sweep_now(), 1U);
}

TEST_F(SqliteTimeTest, TheRealMachineHasABootIdAndAClock) {
  const auto store = testing::open({.file = folder_ / "real.db"});
  take(*store, "a", LeaseId::generate(), 24h);
  EXPECT_TRUE(is_held(*testing::open({.file = folder_ / "real.db"}), "a"));
}

}  // namespace
}  // namespace holdfast::engines::sqlite
