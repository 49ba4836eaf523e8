#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <tests/support/patience.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::locks {
namespace {

using namespace std::chrono_literals;

// Writes into the record of the name what Holdfast would never write.
void damage(const std::filesystem::path& file, const std::string& name) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  const std::string sql =
      "UPDATE records SET leases = x'00' WHERE name = CAST('" + name + "' AS BLOB)";
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close_v2(db);
}

TEST(DamagedRecord, LosesItsOwnLockAtItsTimeAndNoOther) {
  constexpr base::Duration kTtl = 30s;
  const tests::TemporaryFolder folder;
  base::ManualClock clock;
  std::atomic<std::uint64_t> renewed = 0;
  std::atomic<std::uint64_t> failed = 0;
  ProviderOptions options;
  options.clock = &clock;
  options.metrics.count = [&](std::string_view what, std::string_view, std::uint64_t by) {
    renewed += what == "renewed" ? by : 0;
    failed += what == "renew_failed" ? by : 0;
  };
  auto store = base::value_or_throw(
      engines::sqlite::open_store({.file = folder / "locks.db", .machine = {.clock = &clock}}));
  LockProvider provider(store, options);
  Lock bad = provider.acquire("bad", {.ttl = kTtl});
  Lock good = provider.acquire("good", {.ttl = kTtl});
  damage(folder / "locks.db", "bad");

  clock.wait_for_sleepers(1);
  clock.advance(kTtl / 3);
  ASSERT_TRUE(tests::eventually([&] { return renewed == 1 && failed == 1; }));
  EXPECT_TRUE(bad.check()) << "its lease has not expired yet";
  EXPECT_TRUE(good.check());

  clock.wait_for_sleepers(1);
  clock.advance(kTtl * 2 / 3);
  ASSERT_TRUE(tests::eventually([&] { return bad.lost().stop_requested(); }));
  EXPECT_FALSE(good.lost().stop_requested());
  EXPECT_TRUE(good.check());
}

}  // namespace
}  // namespace holdfast::locks
