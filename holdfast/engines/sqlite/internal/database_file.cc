#include <holdfast/engines/sqlite/internal/database_file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <sqlite3.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/sqlite/internal/failure.h>
#include <holdfast/engines/sqlite/internal/queue.h>
#include <holdfast/engines/sqlite/internal/schema_check.h>
#include <holdfast/engines/sqlite/internal/sql.h>
#include <holdfast/engines/sqlite/internal/statement.h>
#include <holdfast/engines/sqlite/internal/transaction.h>

namespace holdfast::engines::sqlite::internal {

namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;
using base::Result;

// The same as in schema.sql.
constexpr std::int64_t kApplicationId = 0x486f6c64;
constexpr std::int64_t kOldestVersion = 1;
constexpr std::int64_t kVersion = 2;

enum class Content : std::uint8_t { nothing, store };

std::string quoted(const std::string& file) { return "the file " + base::printable(file); }

struct Identity {
  std::int64_t application = 0;
  std::int64_t version = 0;
  std::int64_t objects = 0;
};

Result<std::int64_t> ask(Connection& connection, const char* sql) {
  Statement statement(connection, sql);
  Statement::Use use(statement);
  const Result<bool> row = use.step();
  return row ? Result<std::int64_t>(use.integer(0)) : std::unexpected(row.error());
}

Result<Identity> read_identity(Connection& connection) {
  HOLDFAST_TRY_LET(const std::int64_t application, ask(connection, sql::kApplicationId));
  if (application == kApplicationId) {  // nearly always; and then it stays so
    const Result<std::int64_t> version = ask(connection, sql::kUserVersion);
    return version ? Result<Identity>(Identity{application, *version, 1})
                   : std::unexpected(version.error());
  }
  Statement statement(connection, sql::kIdentify);
  Statement::Use use(statement);
  const Result<bool> row = use.step();
  return row ? Result<Identity>(Identity{use.integer(0), use.integer(1), use.integer(2)})
             : std::unexpected(row.error());
}

Result<Content> identify(Connection& connection) {
  HOLDFAST_TRY_LET(const Identity identity, read_identity(connection));
  const auto [application, version, objects] = identity;
  if (application == 0 && version == 0 && objects == 0) {
    return Content::nothing;
  }
  if (application != kApplicationId) {
    return fail(ErrorCode::conflict, quoted(connection.file()) +
                                         " is the database of another program; it is left as it "
                                         "is: name another file");
  }
  if (version > kVersion) {
    return fail(ErrorCode::unsupported,
                quoted(connection.file()) + " was made by a later Holdfast (version " +
                    std::to_string(version) + " of the file, this one knows " +
                    std::to_string(kVersion) + "): upgrade this program");
  }
  if (version < kOldestVersion) {
    return fail(ErrorCode::corrupt, quoted(connection.file()) + " has no version: it is damaged");
  }
  return Content::store;
}

// Returns whether the file needs nothing made, if it is sound.
Result<bool> is_current(Connection& connection) {
  HOLDFAST_TRY_LET(const std::int64_t version, ask(connection, sql::kUserVersion));
  const int rc = sqlite3_table_column_metadata(connection.handle(), "main", "queue", nullptr,
                                               nullptr, nullptr, nullptr, nullptr, nullptr);
  return version == kVersion && rc == SQLITE_OK;
}

// SQLite does not ask the busy handler here if another process is about to write.
Result<void> use_wal(Connection& connection) {
  Statement statement(connection, sql::kUseWal);
  for (int attempt = 0;; ++attempt) {
    Statement::Use use(statement);
    const Result<bool> row = use.step();
    if (row && use.bytes(0) == "wal") {
      return {};
    }
    if (row) {
      return fail(ErrorCode::unsupported, quoted(connection.file()) +
                                              " cannot be shared by several processes on this file "
                                              "system: use a local one");
    }
    const bool is_busy = (sqlite3_errcode(connection.handle()) & 0xff) == SQLITE_BUSY;
    if (!is_busy || !pause_before_retry(attempt, connection.deadline())) {
      return std::unexpected(row.error());
    }
  }
}

Result<void> create(Connection& connection) {
  if (auto sized = connection.run(sql::kPageSize); !sized) {
    return sized;
  }
  if (auto set = use_wal(connection); !set) {
    return set;
  }
  return Transactions(connection).run([&]() -> Result<void> {
    const Result<Content> content = identify(connection);  // again: another may have been faster
    if (!content) {
      return std::unexpected(content.error());
    }
    if (*content == Content::store) {
      return {};
    }
    HOLDFAST_TRY(connection.run(sql::kSchema));
    HOLDFAST_TRY(connection.run(sql::kQueue));
    return connection.run(sql::kLeases);
  });
}

// Moves a file of an earlier version on to this one. Its records stay as they are: see Records.
Result<void> upgrade(Connection& connection) {
  HOLDFAST_TRY_LET(const bool current, is_current(connection));
  if (current) {
    return {};
  }
  return Transactions(connection).run([&]() -> Result<void> {
    HOLDFAST_TRY(identify(connection));  // again: another process may have been faster
    HOLDFAST_TRY(connection.run(sql::kLeases));
    return check_schema(connection, lease_columns());
  });
}

// A file that may only be read is neither made nor upgraded.
Result<void> check_ready(Connection& connection) {
  HOLDFAST_TRY_LET(const Content content, identify(connection));
  if (content == Content::nothing) {
    return std::unexpected(failure_of(SQLITE_READONLY, nullptr, connection.file()));
  }
  HOLDFAST_TRY_LET(const bool current, is_current(connection));
  if (!current) {
    return fail(ErrorCode::unsupported,
                quoted(connection.file()) +
                    " was made by an earlier Holdfast, and may only be read "
                    "by this user: a user that may write to it must open "
                    "it once");
  }
  return check_schema(connection, store_columns());
}

// Makes what is missing of the schema. What is there is checked first, so that a file that is not
// ours stays as it is.
Result<void> make_schema(Connection& connection, Content content) {
  // It is synced to the disk before anybody relies on it.
  HOLDFAST_TRY(connection.run(sql::kSyncEveryCommit));
  if (content == Content::nothing) {
    HOLDFAST_TRY(create(connection));
  }
  HOLDFAST_TRY(check_schema(connection, record_columns()));
  Transactions transactions(connection);
  HOLDFAST_TRY(make_queue(connection, transactions));
  HOLDFAST_TRY(check_schema(connection, queue_columns()));
  return upgrade(connection);
}

Result<void> make_ready(Connection& connection) {
  HOLDFAST_TRY_LET(const Content content, identify(connection));
  if (content == Content::store) {
    HOLDFAST_TRY(use_wal(connection));
  }
  // Nearly always: a short program does little else than open the file.
  HOLDFAST_TRY_LET(const bool current, is_current(connection));
  if (!current) {
    HOLDFAST_TRY(make_schema(connection, content));
  }
  HOLDFAST_TRY(check_schema(connection, store_columns()));
  return connection.run(sql::kSyncAtCheckpoints);
}

// Follows a link whose target does not exist yet: weakly_canonical() leaves it as it is, and SQLite
// would make the target, with its other files beside that.
fs::path follow(fs::path file, std::error_code& error) {
  constexpr int kMostLinks = 40;  // as in the kernel
  for (int links = 0; fs::is_symlink(fs::symlink_status(file, error)) && links < kMostLinks;
       ++links) {
    const fs::path target = fs::read_symlink(file, error);
    file = fs::weakly_canonical(file.parent_path() / target, error);
  }
  return file;
}

// Gives a file that this process has just made the group of the folder, if it may, and the mode.
// `name` is a descriptor of O_PATH.
bool set_access(int name, const fs::path& folder, std::uint32_t mode) {
  struct stat made{};
  if (fstat(name, &made) != 0 || !S_ISREG(made.st_mode) || made.st_nlink != 1 ||
      made.st_uid != geteuid()) {
    errno = EPERM;  // somebody has put another file there
    return false;
  }
  // SQLite gives its own files the group of the database only if it runs as root; others need a
  // folder that passes its group on, and then have it already.
  struct stat parent{};
  if (geteuid() == 0 && stat(folder.c_str(), &parent) == 0) {
    (void)!fchownat(name, "", static_cast<uid_t>(-1), parent.st_gid, AT_EMPTY_PATH);
  }
  // Last: a new group may take bits away.
  return chmod(("/proc/self/fd/" + std::to_string(name)).c_str(), mode_t{mode}) == 0;
}

}  // namespace

Result<fs::path> resolve(const fs::path& file) {
  const std::string& text = file.native();
  if (text.empty() || text.contains('\0')) {
    return fail(ErrorCode::invalid_argument, "the path of the store's file is empty or has a NUL");
  }
  std::error_code error;
  fs::path resolved = fs::weakly_canonical(fs::absolute(file, error), error);
  if (!error) {
    std::error_code ignored;  // a file that does not exist is no error
    resolved = follow(std::move(resolved), ignored);
  }
  if (error) {
    return fail(ErrorCode::unavailable, quoted(text) + " cannot be found: " + error.message());
  }
  const fs::file_status status = fs::status(resolved, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return fail(ErrorCode::invalid_argument,
                quoted(text) + (fs::is_directory(status) ? " is a folder: name a file in it"
                                                         : " is not a regular file: name another"));
  }
  if (!fs::exists(status) && !fs::is_directory(resolved.parent_path(), error)) {
    return fail(ErrorCode::unavailable,
                quoted(text) + " cannot be made, its folder does not exist: make it first");
  }
  return resolved;
}

// Another thread may have opened the file by the time that this returns, so nothing here opens it:
// to close a file drops all locks that the process has on it.
Result<void> make_file(const fs::path& resolved, std::uint32_t mode) {
  const auto cannot = [&](std::string_view what) {
    return fail(ErrorCode::unavailable, quoted(resolved.string()) + " cannot " + std::string(what) +
                                            ": " + std::generic_category().message(errno));
  };
  if (mknod(resolved.c_str(), S_IFREG | mode_t{mode}, dev_t{}) != 0) {
    return errno == EEXIST ? Result<void>() : cannot("be made");
  }
  const int name = ::open(resolved.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW);
  if (name < 0) {
    return cannot("be found");
  }
  const bool is_set = set_access(name, resolved.parent_path(), mode);
  const Result<void> result = is_set ? Result<void>() : cannot("take its mode");
  close(name);
  return result;
}

namespace {

// SQLite would make what is missing even for a reader, who would then own it and shut the writers
// out.
Result<void> check_side_files(const fs::path& file) {
  for (const char* const suffix : {"-wal", "-shm"}) {
    std::error_code error;
    if (!fs::exists(fs::path(file) += suffix, error)) {
      return fail(ErrorCode::unavailable,
                  quoted(file.string()) + " can only be read, and its file " + suffix +
                      " is missing: use the store once as a user that may write to it");
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Connection>> open_database(const fs::path& resolved, Access access,
                                                  base::Deadline deadline) {
  HOLDFAST_TRY_LET(std::unique_ptr<Connection> opened, Connection::open(resolved));
  opened->set_deadline(deadline);
  if (opened->is_read_only() && access == Access::read_write) {
    return std::unexpected(failure_of(SQLITE_READONLY, nullptr, opened->file()));
  }
  if (opened->is_read_only()) {
    HOLDFAST_TRY(check_side_files(opened->file()));
  }
  HOLDFAST_TRY(opened->is_read_only() ? check_ready(*opened) : make_ready(*opened));
  return opened;
}

}  // namespace holdfast::engines::sqlite::internal
