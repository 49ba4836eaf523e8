// A file that somebody has prepared runs none of its code, hangs nobody, and is reported as what it
// is.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/engines/sqlite/internal/connection.h>
#include <holdfast/engines/sqlite/sqlite_repository.h>
#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/engines/sqlite/testing_support.h>

namespace holdfast::engines::sqlite {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using base::LeaseId;
using testing::Stranger;
using testing::take;

constexpr std::string_view kEndless =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";

class SqliteHostileFileTest : public ::testing::Test {
 protected:
  // Makes a store, and has another program add this to the file.
  void prepare(const std::string& sql) {
    testing::open({.file = file_}).reset();
    Stranger(file_).run(sql);
  }
  std::string failure_of_open() {
    const auto opened = open_store({.file = file_});
    if (opened) {
      return "it was opened";
    }
    EXPECT_EQ(opened.error().code, ErrorCode::corrupt);
    return opened.error().message;
  }
  static ErrorCode code_of_claim(SqliteStore& store) {
    const auto outcome = store.claim("a", testing::claim_of(LeaseId::generate()));
    return outcome ? ErrorCode::internal : outcome.error().code;
  }

  testing::Folder folder_;
  const std::filesystem::path file_ = folder_ / "locks.db";
};

TEST_F(SqliteHostileFileTest, AFileWithATriggerIsRefusedByItsName) {
  prepare("CREATE TRIGGER free AFTER INSERT ON records BEGIN DELETE FROM records; END");
  EXPECT_NE(failure_of_open().find("trigger free"), std::string::npos);
}

TEST_F(SqliteHostileFileTest, ATokenThatTheFileNeverAllowedIsCorruptAndSpoilsNoOtherName) {
  const auto store = testing::open({.file = file_});
  const std::uint64_t token = testing::use(*store, "a");
  Stranger(file_).run(
      "UPDATE records SET last_token = (SELECT ceiling FROM meta) + 1, idle_from = -1, epoch = 0");
  EXPECT_EQ(code_of_claim(*store), ErrorCode::corrupt);
  ASSERT_TRUE(store->sweep_now());
  constexpr std::uint64_t kHour = 3'600'000'000;
  EXPECT_LT(testing::use(*store, "b"), token + kHour);
}

TEST_F(SqliteHostileFileTest, AnEndlessTriggerHangsNobody) {
  prepare(
      "CREATE TRIGGER endless AFTER UPDATE ON meta BEGIN INSERT INTO records SELECT x, 1, 1, 1, "
      "1, 1, 1, x'' FROM (" +
      std::string(kEndless.substr(0, kEndless.find("SELECT count"))) +
      " SELECT CAST(x AS BLOB) AS x FROM c); END; UPDATE meta SET boot_id = boot_id WHERE 0");
  EXPECT_NE(failure_of_open().find("trigger endless"), std::string::npos);
}

TEST_F(SqliteHostileFileTest, AViewInThePlaceOfATableIsRefused) {
  prepare("ALTER TABLE records RENAME TO hidden; CREATE VIEW records AS SELECT * FROM hidden");
  EXPECT_NE(failure_of_open().find("view records"), std::string::npos);
}

TEST_F(SqliteHostileFileTest, ATableWithOtherColumnsIsRefused) {
  prepare("DROP TABLE records; CREATE TABLE records (name BLOB PRIMARY KEY, epoch TEXT)");
  EXPECT_NE(failure_of_open().find("records has no column epoch"), std::string::npos);
  std::filesystem::remove(file_);
  base::value_or_throw(open_repository({.file = file_})).reset();
  Stranger(file_).run("ALTER TABLE objects RENAME COLUMN token TO taken");
  EXPECT_EQ(open_repository({.file = file_}).error().code, ErrorCode::corrupt);
}

TEST_F(SqliteHostileFileTest, ATriggerThatIsAddedWhileTheStoreIsOpenDoesNotRun) {
  const auto store = testing::open({.file = file_});
  Stranger(file_).run("CREATE TRIGGER free AFTER INSERT ON records BEGIN DELETE FROM records; END");
  take(*store, "a", LeaseId::generate());
  EXPECT_TRUE(testing::is_held(*store, "a"));
}

TEST_F(SqliteHostileFileTest, AViewThatIsAddedWhileTheStoreIsOpenIsCorruptAndNotRead) {
  const auto store = testing::open({.file = file_});
  Stranger(file_).run("ALTER TABLE records RENAME TO hidden; CREATE VIEW records AS " +
                      std::string(kEndless));
  EXPECT_EQ(code_of_claim(*store), ErrorCode::corrupt);
  EXPECT_EQ(store->look("a").error().code, ErrorCode::corrupt);
}

TEST_F(SqliteHostileFileTest, AnEndlessStatementEndsAtTheDeadline) {
  const auto connection = base::value_or_throw(internal::Connection::open(file_));
  connection->set_deadline(base::Deadline::after(base::steady_clock(), 10ms));
  const auto ran = connection->run(kEndless.data());
  ASSERT_FALSE(ran.has_value());
  EXPECT_EQ(ran.error().code, ErrorCode::unavailable);
}

TEST_F(SqliteHostileFileTest, AnEnormousRecordIsCorruptAndNotRead) {
  const auto store = testing::open({.file = file_});
  take(*store, "a", LeaseId::generate());
  Stranger(file_).run("UPDATE records SET leases = zeroblob(65 * 1024 * 1024)");
  EXPECT_EQ(code_of_claim(*store), ErrorCode::corrupt);
}

TEST_F(SqliteHostileFileTest, ADamagedByteOfTheSchemaIsNeverADefectOfHoldfast) {
  take(*testing::open({.file = file_}), "a", LeaseId::generate());
  Stranger(file_).run("PRAGMA journal_mode = DELETE");
  const std::string good = testing::contents(file_);
  constexpr std::size_t kPage = 2048;
  constexpr std::size_t kStep = 7;
  for (std::size_t at = 0; at < kPage; at += kStep) {
    if (good[at] == '\0') {
      continue;
    }
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x15);
    const auto file = folder_ / (std::to_string(at) + ".db");
    testing::write(file, bad);
    const auto opened = open_store({.file = file});
    ErrorCode code = ErrorCode::corrupt;
    if (!opened) {
      code = opened.error().code;
    } else if (const auto outcome = (*opened)->claim("b", testing::claim_of(LeaseId::generate()));
               !outcome) {
      code = outcome.error().code;
    }
    EXPECT_NE(code, ErrorCode::internal) << "byte " << at << " of the file";
  }
}

}  // namespace
}  // namespace holdfast::engines::sqlite
