#include <holdfast/engines/sqlite/sqlite_repository.h>

#include <sys/mount.h>
#include <sys/stat.h>

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/engines/sqlite/testing_support.h>

namespace holdfast::engines::sqlite {
namespace {

using namespace std::chrono_literals;
using base::Deadline;
using base::ErrorCode;
using base::FencingToken;
using base::LeaseId;
using store::Batch;
using store::LoadOutcome;
using store::ObjectKey;
using store::ObjectSave;
using testing::Stranger;

ObjectSave save_of(std::string id, std::string data, std::uint64_t token) {
  return {.key = {.type = "order", .id = std::move(id)},
          .data = std::move(data),
          .token = FencingToken(token)};
}

class SqliteRepositoryTest : public ::testing::Test {
 protected:
  std::shared_ptr<store::ObjectRepository> open() { return open({.file = file_}); }
  static std::shared_ptr<store::ObjectRepository> open(SqliteOptions options) {
    auto repository = open_repository(std::move(options));
    EXPECT_TRUE(repository.has_value()) << to_string(repository.error());
    return repository ? *repository : nullptr;
  }
  ErrorCode code_of_open(base::Duration busy_timeout = 60s) {
    const std::string before = testing::contents(file_);
    const auto opened = open_repository({.file = file_, .busy_timeout = busy_timeout});
    EXPECT_FALSE(opened.has_value());
    EXPECT_TRUE(testing::contents(file_) == before) << "it was changed";
    EXPECT_NE(opened.error().message.find(file_.filename().string()), std::string::npos);
    return opened ? ErrorCode::internal : opened.error().code;
  }
  static void save(store::ObjectRepository& repository, const ObjectSave& one) {
    const auto outcomes = repository.save({&one, 1}, Batch::each);
    ASSERT_TRUE(outcomes.has_value()) << to_string(outcomes.error());
    ASSERT_EQ(outcomes->front(), store::SaveOutcome(store::Saved{}));
  }
  static LoadOutcome load(store::ObjectRepository& repository, const std::string& id,
                          std::uint64_t token) {
    return base::value_or_throw(repository.load({.type = "order", .id = id}, FencingToken(token)));
  }

  testing::Folder folder_;
  const std::filesystem::path file_ = folder_ / "app.db";
};

TEST_F(SqliteRepositoryTest, LeasesAndObjectsShareAFileWhicheverWasThereFirst) {
  for (const std::string first : {"leases", "objects"}) {
    SCOPED_TRACE(first);
    const std::filesystem::path file = folder_ / first;
    std::shared_ptr<store::ObjectRepository> repository;
    if (first == "objects") {
      repository = base::value_or_throw(open_repository({.file = file}));
    }
    const auto store = testing::open({.file = file});
    if (first == "leases") {
      EXPECT_EQ(Stranger(file).ask("SELECT name FROM sqlite_schema WHERE name = 'objects'"), "");
      testing::take(*store, "17", LeaseId::generate());
      repository = base::value_or_throw(open_repository({.file = file}));
    }
    save(*repository, save_of("17", "data", 1));
    testing::take(*store, "another", LeaseId::generate());
    EXPECT_EQ(load(*repository, "17", 1), LoadOutcome(store::Loaded{"data"}));
    EXPECT_EQ(testing::is_held(*store, "17"), first == "leases");
    EXPECT_TRUE(testing::is_held(*store, "another"));
    EXPECT_EQ(store->list("")->names.size(), first == "leases" ? 2U : 1U);
  }
}

TEST_F(SqliteRepositoryTest, ProgramsFromBeforeThereWereObjectsGoOnWithTheFile) {
  save(*open(), save_of("17", "data", 1));
  // This number tells them whether they can use it.
  EXPECT_EQ(Stranger(file_).ask("SELECT CAST(user_version AS TEXT) FROM pragma_user_version"), "2");
  testing::use(*testing::open({.file = file_}), "17");
  EXPECT_EQ(load(*open(), "17", 1), LoadOutcome(store::Loaded{"data"}));
}

TEST_F(SqliteRepositoryTest, AFileThatIsNotOursIsNamedAndLeftAsItIs) {
  testing::write(file_, "Dear diary, " + std::string(5000, '.'));
  EXPECT_EQ(code_of_open(), ErrorCode::corrupt);
  std::filesystem::remove(file_);
  Stranger(file_).run("CREATE TABLE objects (title TEXT)");
  EXPECT_EQ(code_of_open(), ErrorCode::conflict);
  std::filesystem::remove(file_);
  testing::open({.file = file_}).reset();
  Stranger(file_).run("CREATE TABLE objects (title TEXT); PRAGMA wal_checkpoint(TRUNCATE)");
  EXPECT_EQ(open_repository({.file = file_}).error().code, ErrorCode::corrupt);
}

TEST_F(SqliteRepositoryTest, AFileOfALaterVersionIsUnsupported) {
  open().reset();
  Stranger(file_).run("PRAGMA user_version = 3; PRAGMA wal_checkpoint(TRUNCATE)");
  EXPECT_EQ(code_of_open(), ErrorCode::unsupported);
}

TEST_F(SqliteRepositoryTest, ADamagedFileIsCorrupt) {
  save(*open(), save_of("17", std::string(100'000, 'x'), 1));
  Stranger(file_).run("PRAGMA wal_checkpoint(TRUNCATE)");
  const std::string good = testing::contents(file_);
  constexpr std::size_t kPage = 2048;
  testing::write(file_, good.substr(0, kPage) + std::string(good.size() - kPage, '\xaa'));
  EXPECT_EQ(code_of_open(), ErrorCode::corrupt);
}

TEST_F(SqliteRepositoryTest, AnObjectWhoseDataAreMissingIsCorruptUntilItIsSavedAnew) {
  const auto repository = open();
  save(*repository, save_of("17", "data", 1));
  Stranger(file_).run("DELETE FROM object_data");
  const auto loaded = repository->load({.type = "order", .id = "17"}, FencingToken(1));
  EXPECT_EQ(loaded.error().code, ErrorCode::corrupt);
  save(*repository, save_of("17", "more", 1));
  EXPECT_EQ(load(*repository, "17", 1), LoadOutcome(store::Loaded{"more"}));
}

TEST_F(SqliteRepositoryTest, AReadOnlyFileIsUnavailable) {
  open().reset();
  chmod(file_.c_str(), 0444);
  chmod((folder_ / "").c_str(), 0755);
  const int code = testing::in_child([&] {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && setuid(kNobody) != 0) {
      return 255;  // root may write to anything
    }
    const auto opened = open_repository({.file = file_});
    return opened ? 254 : static_cast<int>(opened.error().code);
  });
  EXPECT_EQ(code, static_cast<int>(ErrorCode::unavailable));
}

TEST_F(SqliteRepositoryTest, AFileThatIsLockedIsUnavailableByTheDeadline) {
  const auto repository = open({.file = file_, .busy_timeout = 50ms});
  Stranger stranger(file_);
  stranger.run("BEGIN IMMEDIATE");
  const ObjectSave one = save_of("17", "data", 1);
  const auto without = repository->save({&one, 1}, Batch::each);
  EXPECT_EQ(without.error().code, ErrorCode::unavailable);
  const auto with =
      repository->save({&one, 1}, Batch::each, Deadline::after(base::steady_clock(), 20ms));
  EXPECT_EQ(with.error().code, ErrorCode::unavailable);
  stranger.run("ROLLBACK");
  save(*repository, one);
}

TEST_F(SqliteRepositoryTest, ALoadThatChangesNothingDoesNotWaitForWriters) {
  const auto repository = open({.file = file_, .busy_timeout = 50ms});
  save(*repository, save_of("17", "data", 7));
  Stranger stranger(file_);
  stranger.run("BEGIN IMMEDIATE");
  EXPECT_EQ(load(*repository, "17", 7), LoadOutcome(store::Loaded{"data"}));
  EXPECT_EQ(load(*repository, "17", 6), LoadOutcome(store::Refused{FencingToken(7)}));
  EXPECT_EQ(load(*repository, "18", 0), LoadOutcome(store::Absent{}));
  EXPECT_EQ(repository->list("order", "")->ids, std::vector<std::string>{"17"});
  stranger.run("ROLLBACK");
}

TEST_F(SqliteRepositoryTest, AFullDiskIsUnavailableAndLeavesTheFileUsable) {
  const std::filesystem::path disk = folder_ / "disk";
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=512k") != 0) {
    GTEST_SKIP() << "a small file system cannot be mounted here";
  }
  {
    const auto repository = base::value_or_throw(open_repository({.file = disk / "app.db"}));
    save(*repository, save_of("17", "data", 1));
    const ObjectSave large = save_of("18", std::string(1'000'000, 'x'), 1);
    const auto outcome = repository->save({&large, 1}, Batch::each);
    EXPECT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().code, ErrorCode::unavailable);
    EXPECT_EQ(load(*repository, "17", 1), LoadOutcome(store::Loaded{"data"}));
    EXPECT_EQ(load(*repository, "18", 0), LoadOutcome(store::Absent{}));
    EXPECT_EQ(mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=8m"), 0);
    save(*repository, large);
  }
  umount(disk.c_str());
}

TEST_F(SqliteRepositoryTest, ABatchThatFailsInTheMiddleChangesNothing) {
  const auto repository = open();
  save(*repository, save_of("a", "old", 1));
  // "c" is refused once "b" is there.
  Stranger(file_).run("CREATE UNIQUE INDEX fails ON objects (type) WHERE id IN (x'62', x'63')");
  const std::vector saves{save_of("a", "new", 2), save_of("b", "new", 2), save_of("c", "new", 2)};
  for (const Batch batch : {Batch::all_or_none, Batch::each}) {
    EXPECT_FALSE(repository->save(saves, batch).has_value());
    EXPECT_EQ(load(*repository, "a", 1), LoadOutcome(store::Loaded{"old"}));
    EXPECT_EQ(repository->list("order", "")->ids, std::vector<std::string>{"a"});
  }
}

TEST_F(SqliteRepositoryTest, AForkedChildLeavesTheParentsRepositoryAlone) {
  auto repository = open();
  save(*repository, save_of("17", "data", 1));
  const int code = testing::in_child([&] {
    const auto loaded = repository->load({.type = "order", .id = "17"}, FencingToken(1));
    const auto opened = open_repository({.file = file_});
    repository.reset();
    return loaded || opened || opened.error().code != ErrorCode::unsupported
               ? 255
               : static_cast<int>(loaded.error().code);
  });
  EXPECT_EQ(code, static_cast<int>(ErrorCode::unsupported));
  save(*repository, save_of("17", "more", 1));
  EXPECT_EQ(load(*open(), "17", 1), LoadOutcome(store::Loaded{"more"}));
}

TEST_F(SqliteRepositoryTest, AFileThatWasMovedIsUnavailable) {
  const auto repository = open();
  save(*repository, save_of("17", "data", 1));
  std::filesystem::rename(file_, folder_ / "moved.db");
  const ObjectKey key{.type = "order", .id = "17"};
  EXPECT_EQ(repository->load(key, FencingToken(1)).error().code, ErrorCode::unavailable);
  EXPECT_EQ(repository->erase(key, FencingToken(1)).error().code, ErrorCode::unavailable);
  EXPECT_EQ(repository->list("order", "").error().code, ErrorCode::unavailable);
}

TEST_F(SqliteRepositoryTest, ARebootForgetsTokensWithoutDataAndNothingElse) {
  base::ManualClock clock;
  {
    const auto before = open({.file = file_, .machine = {.clock = &clock, .boot_id = "first"}});
    save(*before, save_of("there", "data", 9));
    save(*before, save_of("gone", "data", 9));
    ASSERT_TRUE(before->erase({.type = "order", .id = "gone"}, FencingToken(9)));
    EXPECT_EQ(load(*before, "gone", 8), LoadOutcome(store::Refused{FencingToken(9)}));
  }
  const auto after = open({.file = file_, .machine = {.clock = &clock, .boot_id = "second"}});
  save(*after, save_of("another", "data", 9));
  EXPECT_EQ(load(*after, "gone", 1), LoadOutcome(store::Absent{}));
  EXPECT_EQ(load(*after, "there", 8), LoadOutcome(store::Refused{FencingToken(9)}));
  EXPECT_EQ(load(*after, "there", 9), LoadOutcome(store::Loaded{"data"}));
}

TEST_F(SqliteRepositoryTest, NoMoreTokensAreKeptThanWereUsedInTheRetention) {
  base::ManualClock clock;
  const auto repository = open({.file = file_,
                                .retention = 100s,
                                .machine = {.clock = &clock, .boot_id = "the boot of the test"}});
  for (int i = 0; i < 500; ++i) {
    const ObjectKey key{.type = "order", .id = std::to_string(i)};
    ASSERT_TRUE(repository->erase(key, FencingToken(7)));
    clock.advance(1s);
  }
  EXPECT_EQ(Stranger(file_).ask("SELECT CAST(count(*) AS TEXT) FROM objects"), "100");
}

TEST_F(SqliteRepositoryTest, ErasedWithoutATokenLeavesNothingBehind) {
  const auto repository = open();
  save(*repository, save_of("17", "data", 0));
  ASSERT_TRUE(repository->erase({.type = "order", .id = "17"}, FencingToken(0)));
  EXPECT_EQ(Stranger(file_).ask("SELECT CAST(count(*) AS TEXT) FROM objects"), "0");
  EXPECT_EQ(Stranger(file_).ask("SELECT CAST(count(*) AS TEXT) FROM object_data"), "0");
}

}  // namespace
}  // namespace holdfast::engines::sqlite
