#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>

struct sqlite3;

namespace holdfast::engines::sqlite::internal {

// A connection to a database file, whose waits for other processes and whose statements end at a
// deadline. Triggers and views in the file are ignored.
//
// One thread at a time. Every call but the constructor's may block until the deadline that was set
// last, which is of base::steady_clock(), and fails then with ErrorCode::unavailable.
class Connection {
 public:
  // Opens the file, or makes an empty one. Reads and changes nothing yet. `file` is absolute. What
  // this process may not write to is opened to be read.
  [[nodiscard]] static base::Result<std::unique_ptr<Connection>> open(
      const std::filesystem::path& file);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void set_deadline(base::Deadline deadline) noexcept { deadline_ = deadline; }
  [[nodiscard]] base::Deadline deadline() const noexcept { return deadline_; }

  // Runs statements that answer nothing that is needed.
  [[nodiscard]] base::Result<void> run(const char* sql);
  // Returns ErrorCode::unavailable if the name of the file no longer leads to the open one: a
  // process that opens it now gets another file, and would be granted the same names.
  [[nodiscard]] base::Result<void> check_in_place() const;

  [[nodiscard]] base::Error failure(int rc) const;
  [[nodiscard]] sqlite3* handle() const noexcept { return db_; }
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] bool is_read_only() const noexcept { return is_read_only_; }

  // Returns whether the log, which has so many pages after the last commit, is to be copied into
  // the file, so that it begins anew.
  [[nodiscard]] bool is_log_long(int pages) noexcept;
  // Copies the log into the file, so that the next commit needs no more room on the disk. Does as
  // much of it as is possible.
  void reuse_log() noexcept;

  // Returns whether to interrupt the running statement: its deadline has passed.
  [[nodiscard]] bool must_stop() const noexcept;

  // While it lives, a statement is not interrupted at the deadline. For a commit, which SQLite
  // could otherwise report as interrupted after it has been made, and for work that is bounded by
  // itself.
  class Uninterrupted {
   public:
    explicit Uninterrupted(Connection& connection) noexcept
        : connection_(connection), before_(std::exchange(connection.is_interruptible_, false)) {}
    ~Uninterrupted() { connection_.is_interruptible_ = before_; }
    Uninterrupted(const Uninterrupted&) = delete;
    Uninterrupted& operator=(const Uninterrupted&) = delete;

   private:
    Connection& connection_;
    const bool before_;
  };

 private:
  Connection(sqlite3* db, std::string file);

  sqlite3* const db_;
  const std::string file_;
  const bool is_read_only_;
  base::Deadline deadline_ = base::Deadline::never();
  bool committed_ = false;
  int checked_at_ = 0;  // how long the log was when the room on the volume was last checked
  bool is_interruptible_ = true;
};

// Sleeps a little, longer with each `attempt` and never the same time twice, so that two processes
// do not keep meeting. False, at once, if the deadline has come.
bool pause_before_retry(int attempt, base::Deadline deadline);

}  // namespace holdfast::engines::sqlite::internal
