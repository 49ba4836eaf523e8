// Files with a fault are reported, and nothing in them is overwritten.
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <optional>
#include <string>

#include <grp.h>
#include <gtest/gtest.h>

#include <holdfast/engines/sqlite/internal/connection.h>
#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/engines/sqlite/testing_support.h>

namespace holdfast::engines::sqlite {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using base::LeaseId;
using testing::contents;
using testing::Stranger;
using testing::take;

class SqliteFileTest : public ::testing::Test {
 protected:
  // Returns why it cannot be opened; checks that it was left unchanged.
  base::Error failure_of_open(const std::filesystem::path& path,
                              base::Duration busy_timeout = 60s) {
    const bool is_file = std::filesystem::is_regular_file(path);
    const std::string before = is_file ? contents(path) : "";
    const auto opened = open_store({.file = path, .busy_timeout = busy_timeout});
    EXPECT_FALSE(opened.has_value());
    EXPECT_EQ(std::filesystem::is_regular_file(path), is_file);
    EXPECT_TRUE(!is_file || contents(path) == before);
    return opened ? base::Error{ErrorCode::internal, "it was opened"} : opened.error();
  }
  ErrorCode code_of_open(base::Duration busy_timeout = 60s) {
    const base::Error error = failure_of_open(file_, busy_timeout);
    EXPECT_NE(error.message.find(file_.filename().string()), std::string::npos) << error.message;
    return error.code;
  }

  testing::Folder folder_;
  const std::filesystem::path file_ = folder_ / "locks.db";
};

TEST_F(SqliteFileTest, AnEmptyFileBecomesAStoreAndKeepsItsPermissions) {
  testing::write(file_, "");
  chmod(file_.c_str(), 0600);
  take(*testing::open({.file = file_}), "a", LeaseId::generate());
  for (const std::string suffix : {"", "-wal", "-shm", "-wake"}) {
    struct stat status{};
    ASSERT_EQ(stat((file_.string() + suffix).c_str(), &status), 0) << suffix;
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << suffix;
  }
}

TEST_F(SqliteFileTest, OneShortProgramAfterAnotherKeepsTheLogShort) {
  for (int i = 0; i < 150; ++i) {
    testing::use(*testing::open({.file = file_}), "a");
  }
  constexpr std::size_t kFrame = 2048 + 24;
  EXPECT_LT(std::filesystem::file_size(file_.string() + "-wal"), 100 * kFrame);
}

TEST_F(SqliteFileTest, ASymbolicLinkLeadsToTheSameStore) {
  std::filesystem::create_symlink(file_, folder_ / "link.db");
  const auto store = testing::open({.file = folder_ / "link.db"});
  take(*store, "a", LeaseId::generate());
  EXPECT_TRUE(testing::is_held(*testing::open({.file = file_}), "a"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "link.db-wal"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "link.db-wake"));
}

TEST_F(SqliteFileTest, ALinkThatLeadsToNoFolderOrToItselfIsRefused) {
  std::filesystem::create_symlink(folder_ / "no/such/folder.db", file_);
  EXPECT_EQ(failure_of_open(file_).code, ErrorCode::unavailable);
  std::filesystem::remove(file_);
  std::filesystem::create_symlink(file_, file_);
  EXPECT_EQ(open_store({.file = file_}).error().code, ErrorCode::unavailable);
}

TEST_F(SqliteFileTest, NamesThatSqliteWouldReadAsAUriAreJustNames) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_ / "");
  for (const std::string name : {":memory:", "file:a.db?mode=memory", "a b.db", "ä?#%41.db"}) {
    take(*testing::open({.file = name}), "a", LeaseId::generate());
    EXPECT_TRUE(std::filesystem::is_regular_file(folder_ / name)) << name;
  }
  std::filesystem::current_path(before);
}

TEST_F(SqliteFileTest, SomethingThatIsNoDatabaseIsCorrupt) {
  testing::write(file_, "Dear diary, today I have locked myself out. " + std::string(5000, '.'));
  EXPECT_EQ(code_of_open(), ErrorCode::corrupt);
  testing::write(file_, "short");
  EXPECT_EQ(code_of_open(), ErrorCode::corrupt);
}

TEST_F(SqliteFileTest, TheDatabaseOfAnotherProgramIsAConflict) {
  Stranger(file_).run("CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('La Paloma')");
  EXPECT_EQ(code_of_open(), ErrorCode::conflict);
  Stranger(file_).run("PRAGMA application_id = 42");
  EXPECT_EQ(code_of_open(), ErrorCode::conflict);
}

TEST_F(SqliteFileTest, AStoreOfALaterVersionIsUnsupported) {
  testing::open({.file = file_}).reset();
  Stranger(file_).run("PRAGMA user_version = 3; PRAGMA wal_checkpoint(TRUNCATE)");
  EXPECT_EQ(code_of_open(), ErrorCode::unsupported);
}

TEST_F(SqliteFileTest, AStoreWithoutItsTablesIsCorrupt) {
  testing::open({.file = file_}).reset();
  Stranger(file_).run("DELETE FROM meta");
  EXPECT_EQ(code_of_open(), ErrorCode::corrupt);
  Stranger(file_).run("DROP TABLE meta");
  EXPECT_EQ(code_of_open(), ErrorCode::corrupt);
}

TEST_F(SqliteFileTest, ADamagedStoreIsCorrupt) {
  take(*testing::open({.file = file_}), "a", LeaseId::generate());
  Stranger(file_).run("PRAGMA wal_checkpoint(TRUNCATE)");
  const std::string good = contents(file_);
  constexpr std::size_t kPage = 2048;
  testing::write(file_, good.substr(0, kPage) + std::string(good.size() - kPage, '\xaa'));
  EXPECT_EQ(code_of_open(), ErrorCode::corrupt);
  testing::write(file_, good.substr(0, kPage));
  EXPECT_EQ(code_of_open(), ErrorCode::corrupt);
}

TEST_F(SqliteFileTest, AFolderAPipeOrAPathWithoutAFolderIsRefused) {
  std::filesystem::create_directory(file_);
  EXPECT_EQ(code_of_open(), ErrorCode::invalid_argument);
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(failure_of_open(folder_ / "pipe").code, ErrorCode::invalid_argument);
  EXPECT_EQ(failure_of_open(folder_ / "no/such/folder.db").code, ErrorCode::unavailable);
  EXPECT_EQ(failure_of_open("/dev/null").code, ErrorCode::invalid_argument);
}

// Runs the function as another user, who is in the group; returns 255 if it cannot.
int as_nobody(const std::function<int()>& body, std::optional<gid_t> group = std::nullopt) {
  return testing::in_child([&] {
    constexpr uid_t kNobody = 65534;
    constexpr gid_t kNogroup = 65534;
    if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(group.value_or(kNogroup)) != 0 ||
                           setuid(kNobody) != 0)) {
      return 255;
    }
    return body();
  });
}

std::string owner_of_a(SqliteStore& store) {
  const auto state = store.look("a");
  return state && *state ? (*state)->holders.front().owner : "";
}

// Without counting one; 0 if it cannot look.
std::uint32_t hits_of(SqliteStore& store, std::string_view name, store::Hit hit) {
  hit.count = 0;
  const auto counted = store.hit(name, hit);
  return counted ? counted->hits : 0;
}

TEST_F(SqliteFileTest, AFileThatMayOnlyBeReadIsListedAndRefusesChanges) {
  const LeaseId id = LeaseId::generate();
  store::Hit hit{.limit = 9, .period = 1h};
  take(*testing::open({.file = file_}), "a", id, 1h);
  ASSERT_TRUE(testing::open({.file = file_})->hit("throttle/a", hit));
  chmod(file_.c_str(), 0444);
  chmod((folder_ / "").c_str(), 0755);
  const int failed = as_nobody([&] {
    const auto opened = open_store({.file = file_});
    if (!opened) {
      return 1;
    }
    SqliteStore& store = **opened;
    const auto page = store.list("");
    const auto is_refused = [](const auto& outcome) {
      return !outcome && outcome.error().code == ErrorCode::unsupported;
    };
    const store::Renewal renewal{.name = "a", .id = id, .ttl = 1h};
    return !(page && page->names.size() == 1)                                      ? 2
           : owner_of_a(store) != "tester"                                         ? 3
           : !is_refused(store.claim("b", testing::claim_of(LeaseId::generate()))) ? 4
           : !is_refused(store.release("a", id))                                   ? 5
           : !is_refused(store.renew({&renewal, 1}))                               ? 6
           : !is_refused(store.sweep_now())                                        ? 7
           : !is_refused(store.hit("throttle/a", hit))                             ? 8
           : hits_of(store, "throttle/a", hit) != 1                                ? 9
                                                                                   : 0;
  });
  EXPECT_EQ(failed, 0);
  EXPECT_TRUE(testing::is_held(*testing::open({.file = file_}), "a"));
}

TEST_F(SqliteFileTest, WhatAnotherProcessChangesIsSeenByOneThatMayOnlyRead) {
  const auto writer = testing::in_child([&] {
    const auto store = open_store({.file = file_});
    return store ? 0 : 1;
  });
  ASSERT_EQ(writer, 0);
  chmod(file_.c_str(), 0444);
  chmod((folder_ / "").c_str(), 0755);
  int to_reader[2];
  int to_writer[2];
  ASSERT_EQ(pipe(to_reader), 0);
  ASSERT_EQ(pipe(to_writer), 0);
  char byte = 0;
  const pid_t reader = fork();
  if (reader == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) {
      _exit(255);
    }
    const auto opened = open_store({.file = file_});
    const bool was_free = opened && owner_of_a(**opened).empty();
    (void)!::write(to_writer[1], &byte, 1);
    (void)!::read(to_reader[0], &byte, 1);
    _exit(was_free && owner_of_a(**opened) == "tester" ? 0 : 1);
  }
  (void)!::read(to_writer[0], &byte, 1);
  const auto store = testing::open({.file = file_});
  take(*store, "a", LeaseId::generate(), 1h);
  (void)!::write(to_reader[1], &byte, 1);
  int status = 0;
  waitpid(reader, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  for (const int fd : {to_reader[0], to_reader[1], to_writer[0], to_writer[1]}) {
    close(fd);
  }
}

// A file of the reader's would shut out the users that may write.
TEST_F(SqliteFileTest, AReaderMakesNoneOfTheFilesThatAreMissing) {
  take(*testing::open({.file = file_}), "a", LeaseId::generate(), 1h);
  chmod(file_.c_str(), 0444);
  chmod((folder_ / "").c_str(), 0777);
  const auto beside = [&](const char* suffix) { return std::filesystem::path(file_) += suffix; };
  for (const char* const suffix : {"-wal", "-shm", "-wake"}) {
    std::filesystem::remove(beside(suffix));
  }
  const int code = as_nobody([&] {
    const auto opened = open_store({.file = file_});
    return opened ? 254 : static_cast<int>(opened.error().code);
  });
  EXPECT_EQ(code, static_cast<int>(ErrorCode::unavailable));
  for (const char* const suffix : {"-wal", "-shm", "-wake"}) {
    EXPECT_FALSE(std::filesystem::exists(beside(suffix))) << suffix;
  }
}

TEST_F(SqliteFileTest, AnEmptyFileThatMayOnlyBeReadIsUnavailable) {
  testing::write(file_, "");
  chmod(file_.c_str(), 0444);
  chmod((folder_ / "").c_str(), 0755);
  const int code = as_nobody([&] {
    const auto opened = open_store({.file = file_});
    return opened ? 254 : static_cast<int>(opened.error().code);
  });
  EXPECT_EQ(code, static_cast<int>(ErrorCode::unavailable));
}

// The owner makes the file with a mode, and the users of the folder's group lock with it.
TEST_F(SqliteFileTest, AFileWithAModeIsSharedByTheGroupOfItsFolder) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can become other users";
  }
  constexpr gid_t kGroup = 4242;
  ASSERT_EQ(chown((folder_ / "").c_str(), 0, kGroup), 0);
  ASSERT_EQ(chmod((folder_ / "").c_str(), 02770), 0);
  const mode_t before = umask(0077);
  take(*testing::open({.file = file_, .mode = 0660}), "a", LeaseId::generate(), 1h);
  umask(before);
  for (const std::string suffix : {"", "-wal", "-shm", "-wake"}) {
    struct stat status{};
    ASSERT_EQ(stat((file_.string() + suffix).c_str(), &status), 0) << suffix;
    EXPECT_EQ(status.st_mode & 0777U, 0660U) << suffix;
    EXPECT_EQ(status.st_gid, kGroup) << suffix;
  }
  const auto locks = [&] {
    const auto opened = open_store({.file = file_});
    const auto claimed = opened
                             ? (*opened)->claim("b", testing::claim_of(LeaseId::generate(), 1h))
                             : base::Result<store::ClaimOutcome>(std::unexpected(opened.error()));
    return claimed && std::holds_alternative<store::Grant>(*claimed) &&
                   (*opened)->capabilities().push
               ? 0
               : 1;
  };
  EXPECT_EQ(as_nobody(locks, kGroup), 0);
  EXPECT_EQ(as_nobody(locks), 1) << "not in the group";
  EXPECT_TRUE(testing::is_held(*testing::open({.file = file_}), "b"));
}

TEST_F(SqliteFileTest, AModeWithoutTheOwnersRightsIsRefused) {
  EXPECT_EQ(open_store({.file = file_, .mode = 0060}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(open_store({.file = file_, .mode = 01777}).error().code, ErrorCode::invalid_argument);
}

TEST_F(SqliteFileTest, AModeLeavesAFileThatExistsAsItIs) {
  testing::write(file_, "");
  chmod(file_.c_str(), 0600);
  testing::open({.file = file_, .mode = 0660}).reset();
  struct stat status{};
  ASSERT_EQ(stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(SqliteFileTest, AFileThatIsLockedForEverIsUnavailableAfterTheBusyTimeout) {
  Stranger stranger(file_);
  stranger.run("BEGIN EXCLUSIVE");
  EXPECT_EQ(code_of_open(50ms), ErrorCode::unavailable);  // to be made
  stranger.run("ROLLBACK");
  testing::open({.file = file_, .machine = {.boot_id = "first"}}).reset();
  stranger.run("BEGIN IMMEDIATE");
  EXPECT_EQ(code_of_open(50ms), ErrorCode::unavailable);  // to be moved on to this boot
}

TEST_F(SqliteFileTest, ToMakeAStoreItWaitsForTheUsersOfTheEmptyFile) {
  Stranger stranger(file_);
  for (const std::string sql : {"BEGIN; SELECT count(*) FROM sqlite_schema", "BEGIN IMMEDIATE"}) {
    stranger.run(sql);
    const auto start = base::steady_clock().now();
    EXPECT_EQ(code_of_open(50ms), ErrorCode::unavailable) << sql;
    EXPECT_GE(base::steady_clock().now() - start, 50ms) << sql;
    stranger.run("ROLLBACK");
  }
  take(*testing::open({.file = file_}), "a", LeaseId::generate());
}

TEST_F(SqliteFileTest, ManyCallersThatOpenANewFileAtOnceGetTheSameStore) {
  // Processes, because that is where SQLite itself keeps no order.
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const auto store = open_store({.file = file_, .busy_timeout = 60s});
      const auto id = LeaseId::generate();
      const bool done = store && (*store)->claim(std::to_string(i), testing::claim_of(id, 1h));
      _exit(done ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(testing::open({.file = file_})->list("")->names.size(), 8U);
}

TEST_F(SqliteFileTest, AFullDiskIsUnavailableAndLeavesTheStoreUsable) {
  const std::filesystem::path disk = folder_ / "disk";
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=192k") != 0) {
    GTEST_SKIP() << "a small file system cannot be mounted here";
  }
  {
    const auto store = testing::open({.file = disk / "locks.db"});
    const auto first = LeaseId::generate();
    take(*store, "first", first);
    ErrorCode code = ErrorCode::internal;
    for (int i = 0; i < 1000 && code == ErrorCode::internal; ++i) {
      const auto outcome = store->claim(std::to_string(i), testing::claim_of(LeaseId::generate()));
      code = outcome ? ErrorCode::internal : outcome.error().code;
    }
    EXPECT_EQ(code, ErrorCode::unavailable);
    EXPECT_TRUE(testing::is_held(*store, "first"));
    EXPECT_EQ(mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=4m"), 0);
    EXPECT_EQ(store->release("first", first), store::ReleaseOutcome::released);
  }
  umount(disk.c_str());
}

TEST_F(SqliteFileTest, ASmallVolumeIsNotFilledByTheLog) {
  const std::filesystem::path disk = folder_ / "disk";
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=512k") != 0) {
    GTEST_SKIP() << "a small file system cannot be mounted here";
  }
  {
    const auto store = testing::open({.file = disk / "locks.db"});
    for (int i = 0; i < 2000; ++i) {
      testing::use(*store, std::to_string(i % 10));
    }
    // Somebody else fills the volume: what is held can still be released.
    const auto id = LeaseId::generate();
    take(*store, "1", id);
    testing::write(disk / "filler", std::string(512 * 1024, '.'));
    EXPECT_EQ(store->release("1", id), store::ReleaseOutcome::released);
    for (int i = 0; i < 200; ++i) {
      testing::use(*store, std::to_string(i % 10));
    }
  }
  umount(disk.c_str());
}

// The log has no room to grow: it is copied into the file, and begins anew.
TEST_F(SqliteFileTest, OnAFullDiskHoldersReleaseInTheRoomThatTheLogHas) {
  const std::filesystem::path disk = folder_ / "disk";
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=512k") != 0) {
    GTEST_SKIP() << "a small file system cannot be mounted here";
  }
  {
    constexpr int kNames = 10;
    const SqliteOptions options{.file = disk / "locks.db"};
    for (int i = 0; i < kNames; ++i) {
      testing::use(*testing::open(options), std::to_string(i));
    }
    Stranger(options.file).run("PRAGMA wal_checkpoint(TRUNCATE)");  // the file has its pages
    const auto store = testing::open(options);
    const auto id = LeaseId::generate();
    for (int i = 0; i < kNames; ++i) {
      take(*store, std::to_string(i), id);
    }
    testing::write(disk / "filler", std::string(512 * 1024, '.'));
    for (int i = 0; i < kNames; ++i) {
      EXPECT_EQ(store->release(std::to_string(i), id), store::ReleaseOutcome::released);
    }
  }
  umount(disk.c_str());
}

TEST_F(SqliteFileTest, AFileThatIsRemovedWhileItIsInUseIsReportedAsThat) {
  const auto store = testing::open({.file = file_});
  take(*store, "a", LeaseId::generate());
  for (const std::string suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(file_.string() + suffix);
  }
  for (const auto& error : {store->claim("b", testing::claim_of(LeaseId::generate())).error(),
                            store->look("a").error()}) {
    EXPECT_EQ(error.code, ErrorCode::unavailable);
    EXPECT_NE(error.message.find("moved or removed"), std::string::npos) << error.message;
  }
}

// The file is removed between the beginning of a transaction and one of its statements.
TEST_F(SqliteFileTest, AStatementThatFailsAfterTheFileWasRemovedIsReportedAsThat) {
  const auto connection = base::value_or_throw(internal::Connection::open(file_));
  EXPECT_TRUE(connection->run("CREATE TABLE t (a)"));
  std::filesystem::remove(file_);
  const auto failed = connection->run("INSERT INTO no_such_table VALUES (1)");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::unavailable);
  EXPECT_NE(failed.error().message.find("moved or removed"), std::string::npos)
      << failed.error().message;
}

TEST_F(SqliteFileTest, ADiskThatFailsDuringTheCommitLeavesTheOutcomeUnknown) {
  testing::open({.file = file_}).reset();
  const int code = testing::in_child([&] {
    const auto store = *open_store({.file = file_});
    const auto claim = testing::claim_of(LeaseId::generate());
    (void)signal(SIGXFSZ, SIG_IGN);
    const rlimit none{.rlim_cur = 1, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &none);
    const auto failed = store->claim("a", claim);
    const rlimit all{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &all);
    // The error says so: repeated, it is done once.
    const auto again = store->claim("a", claim);
    const auto third = store->claim("a", claim);
    if (failed || !again || !third || !std::holds_alternative<store::Grant>(*again) ||
        std::get<store::Grant>(*again).token != std::get<store::Grant>(*third).token) {
      return 255;
    }
    return static_cast<int>(failed.error().code);
  });
  EXPECT_EQ(code, static_cast<int>(ErrorCode::unknown_outcome));
}

TEST_F(SqliteFileTest, WithoutTheWakeFileItWorksAndSaysThatWaitersMustPoll) {
  std::filesystem::create_directory(folder_ / "locks.db-wake");
  std::string logged;
  const auto store = testing::open(
      {.file = file_,
       .logger = base::Logger([&](base::LogLevel, std::string_view text) { logged += text; })});
  EXPECT_NE(logged.find("poll"), std::string::npos);
  EXPECT_FALSE(store->capabilities().push);
  int hints = 0;
  const auto watch = store->watch("a", [&](const auto&) { ++hints; });
  testing::use(*store, "a");
  EXPECT_EQ(hints, 1);
}

}  // namespace
}  // namespace holdfast::engines::sqlite
