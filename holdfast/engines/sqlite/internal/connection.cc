#include <holdfast/engines/sqlite/internal/connection.h>

#include <sched.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include <sqlite3.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/random.h>
#include <holdfast/engines/sqlite/internal/failure.h>

namespace holdfast::engines::sqlite::internal {

namespace {

int on_busy(void* connection, int attempt) {
  return pause_before_retry(attempt, static_cast<const Connection*>(connection)->deadline()) ? 1
                                                                                             : 0;
}

int on_progress(void* connection) {
  return static_cast<const Connection*>(connection)->must_stop() ? 1 : 0;
}

// SQLite's own way of keeping the log short, but for the first commit. What fails here is tried
// again after a later one.
int on_commit(void* connection, sqlite3* db, const char* schema, int pages) {
  if (static_cast<Connection*>(connection)->is_log_long(pages)) {
    sqlite3_wal_checkpoint_v2(db, schema, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  }
  return SQLITE_OK;
}

void configure(sqlite3* db) {
  // The last process that closes would copy the log into the file and sync both: milliseconds at
  // the end of every short program. The log is good as it is; the writer that makes it long copies
  // it.
  sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  // A file that only pretends to be ours runs no code of its own, and no value in it is larger than
  // the largest object or the leases of tens of thousands of holders.
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  constexpr int kLargestValue = 64 * 1024 * 1024;
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kLargestValue);
}

}  // namespace

base::Result<std::unique_ptr<Connection>> Connection::open(const std::filesystem::path& file) {
  sqlite3* db = nullptr;
  // No mutex: the store lets one thread in at a time.
  const int rc = sqlite3_open_v2(
      file.c_str(), &db,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
      nullptr);
  if (rc != SQLITE_OK) {
    base::Error error = failure_of(rc, db, file.string());
    sqlite3_close_v2(db);
    return std::unexpected(std::move(error));
  }
  configure(db);
  std::unique_ptr<Connection> connection(new Connection(db, file.string()));
  sqlite3_busy_handler(db, on_busy, connection.get());
  sqlite3_wal_hook(db, on_commit, connection.get());
  constexpr int kOperations = 10'000;  // of SQLite's machine, some 100 µs
  sqlite3_progress_handler(db, kOperations, on_progress, connection.get());
  return connection;
}

Connection::Connection(sqlite3* db, std::string file)
    : db_(db), file_(std::move(file)), is_read_only_(sqlite3_db_readonly(db, "main") == 1) {}

Connection::~Connection() { sqlite3_close_v2(db_); }

// A program that opens a file which nobody has open reads all of its log, so one short program
// after another keeps it short; one that goes on is not held up so often. On a small volume the log
// stays shorter still: what is free must hold the pages that a checkpoint adds to the file, and
// more.
bool Connection::is_log_long(int pages) noexcept {
  constexpr int kOfFirstCommit = 64;
  constexpr int kOfOthers = 1000;
  constexpr int kShort = 32;
  if (pages >= (std::exchange(committed_, true) ? kOfOthers : kOfFirstCommit)) {
    return true;
  }
  if (pages < kShort || std::exchange(checked_at_, pages / kShort) == pages / kShort) {
    return false;
  }
  constexpr std::uint64_t kFrame = 2048 + 24;
  constexpr std::uint64_t kReserve = 4;  // times the log
  struct statvfs volume{};
  if (statvfs(file_.c_str(), &volume) != 0) {
    return false;
  }
  const std::uint64_t free = std::uint64_t{volume.f_bavail} * volume.f_frsize;
  return static_cast<std::uint64_t>(pages) * kFrame * kReserve >= free;
}

void Connection::reuse_log() noexcept {
  sqlite3_wal_checkpoint_v2(db_, "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
}

base::Result<void> Connection::run(const char* sql) {
  if (const int rc = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr); rc != SQLITE_OK) {
    return std::unexpected(failure(rc));
  }
  return {};
}

base::Result<void> Connection::check_in_place() const {
  int moved = 0;
  sqlite3_file_control(db_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved != 0) [[unlikely]] {
    return base::fail(base::ErrorCode::unavailable,
                      "the file " + base::printable(file_) +
                          " was moved or removed while it was open: open the store again");
  }
  return {};
}

base::Error Connection::failure(int rc) const {
  // A file that was removed shows in many ways, none of which says so.
  if (auto in_place = check_in_place(); !in_place) {
    return std::move(in_place).error();
  }
  return failure_of(rc, db_, file_);
}

bool Connection::must_stop() const noexcept {
  return is_interruptible_ && deadline_.expired(base::steady_clock().now());
}

bool pause_before_retry(int attempt, base::Deadline deadline) {
  using namespace std::chrono_literals;
  const base::Duration left = deadline.remaining(base::steady_clock().now());
  if (left == base::Duration::zero()) {
    return false;
  }
  if (attempt == 0) {
    sched_yield();
    return true;
  }
  constexpr base::Duration kLeast = 20us;
  constexpr base::Duration kMost = 2ms;
  const base::Duration full = std::min(kLeast * (1 << std::min(attempt, 10)), kMost);
  const auto jitter = static_cast<base::Duration::rep>(
      base::random_u64() % static_cast<std::uint64_t>(full.count() / 2));
  const base::Duration pause = std::min(full / 2 + base::Duration(jitter), left);
  const timespec time{.tv_sec = 0, .tv_nsec = pause.count()};
  nanosleep(&time, nullptr);
  return true;
}

}  // namespace holdfast::engines::sqlite::internal
