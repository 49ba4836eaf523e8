#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>

struct sqlite3;

namespace holdfast::engines::sqlite::internal {

// A connection to a database file, whose waits for other processes end at a deadline.
//
// One thread at a time. Every call but the constructor's may block until the deadline that was set
// last, which is of base::steady_clock(), and fails then with ErrorCode::unavailable.
class Connection {
 public:
  // Opens the file, or makes an empty one. Reads and changes nothing yet. `file` is absolute.
  [[nodiscard]] static base::Result<std::unique_ptr<Connection>> open(
      const std::filesystem::path& file);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void set_deadline(base::Deadline deadline) noexcept { deadline_ = deadline; }
  [[nodiscard]] base::Deadline deadline() const noexcept { return deadline_; }

  // Runs statements that answer nothing that is needed.
  [[nodiscard]] base::Result<void> run(const char* sql);
  // ErrorCode::unavailable if the name of the file no longer leads to what was opened: whoever
  // opens it now gets another file, and would be granted the same names.
  [[nodiscard]] base::Result<void> check_in_place() const;

  [[nodiscard]] base::Error failure(int rc) const;
  [[nodiscard]] sqlite3* handle() const noexcept { return db_; }
  [[nodiscard]] const std::string& file() const noexcept { return file_; }

  // How many pages the log may have after the commit that was just made.
  [[nodiscard]] int take_log_limit() noexcept;

  // While it lives, even a statement that does not wait for anybody is interrupted at the deadline.
  class InterruptAtDeadline {
   public:
    explicit InterruptAtDeadline(Connection& connection);
    ~InterruptAtDeadline();
    InterruptAtDeadline(const InterruptAtDeadline&) = delete;
    InterruptAtDeadline& operator=(const InterruptAtDeadline&) = delete;

   private:
    Connection& connection_;
  };

 private:
  Connection(sqlite3* db, std::string file);

  sqlite3* const db_;
  const std::string file_;
  base::Deadline deadline_ = base::Deadline::never();
  bool committed_ = false;
};

// Sleeps a little, longer with each `attempt` and never the same time twice, so that two processes
// do not keep meeting. False, at once, if the deadline has come.
bool pause_before_retry(int attempt, base::Deadline deadline);

}  // namespace holdfast::engines::sqlite::internal
