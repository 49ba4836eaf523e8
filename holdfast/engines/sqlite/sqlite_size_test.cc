// The cost of a file that has, or had, many names.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/engines/sqlite/testing_support.h>

namespace holdfast::engines::sqlite {
namespace {

using namespace std::chrono_literals;
using base::LeaseId;
using testing::take;

class SqliteSizeTest : public ::testing::Test {
 protected:
  // Adds names n0000000, n0000001, … that were released, as copies of one that was.
  void add_released(int count) {
    testing::use(*store_, "m");
    stranger_.run(
        "WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM c WHERE x + 1 < " +
        std::to_string(count) +
        ") INSERT INTO records SELECT CAST(printf('n%07d', x) AS BLOB), epoch, last_token, "
        "capacity, hits, window_ends, idle_from, leases FROM c, records WHERE name = x'6d'");
  }
  std::int64_t number(const std::string& sql) { return std::stoll(stranger_.ask(sql)); }

  testing::Folder folder_;
  base::ManualClock clock_{base::TimePoint(1h)};
  const std::filesystem::path file_ = folder_ / "locks.db";
  const std::shared_ptr<SqliteStore> store_ =
      testing::open({.file = file_, .retention = 1h, .machine = {.clock = &clock_}});
  testing::Stranger stranger_{file_};
};

TEST_F(SqliteSizeTest, TheFileShrinksWhenItsNamesAreForgotten) {
  add_released(20'000);
  stranger_.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const auto full = std::filesystem::file_size(file_);
  clock_.advance(1h);
  EXPECT_EQ(store_->sweep_now(), 20'001U);
  stranger_.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const std::int64_t pages = number("PRAGMA page_count");
  EXPECT_LE(pages, 2 * (pages - number("PRAGMA freelist_count")));
  EXPECT_LT(std::filesystem::file_size(file_), full / 4);
  EXPECT_EQ(stranger_.ask("PRAGMA integrity_check"), "ok");
}

TEST_F(SqliteSizeTest, AFileThatIsMoreThanHalfFullKeepsItsPages) {
  add_released(2'000);
  clock_.advance(30min);
  stranger_.run(
      "UPDATE records SET idle_from = idle_from + 3600000000000 WHERE name < CAST('n0001500' AS "
      "BLOB)");
  const std::int64_t pages = number("PRAGMA page_count");
  clock_.advance(30min);
  ASSERT_TRUE(store_->sweep_now());
  EXPECT_EQ(number("PRAGMA page_count"), pages);
}

TEST_F(SqliteSizeTest, APageOfAListingVisitsABoundedNumberOfRows) {
  constexpr int kRows = 50'000;
  add_released(kRows);
  take(*store_, "n0019998x", LeaseId::generate());
  take(*store_, "z", LeaseId::generate());
  std::vector<std::string> names;
  std::vector<std::string> nexts;
  store::PageRequest request;
  do {
    const auto page = store_->list("", request);
    ASSERT_TRUE(page.has_value());
    for (const auto& state : page->names) {
      names.emplace_back(state.name.view());
    }
    nexts.push_back(page->next);
    request.after = page->next;
  } while (!request.after.empty());
  EXPECT_EQ(names, (std::vector<std::string>{"n0019998x", "z"}));
  // 20,000 rows each: the first page ends just before "n0019998x", which the second begins with.
  EXPECT_EQ(nexts, (std::vector<std::string>{"n0019998", "n0039997", ""}));
}

}  // namespace
}  // namespace holdfast::engines::sqlite
