#pragma once

#include <filesystem>
#include <memory>
#include <utility>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/sqlite/internal/connection.h>
#include <holdfast/engines/sqlite/internal/database_file.h>
#include <holdfast/engines/sqlite/internal/open_file.h>
#include <holdfast/engines/sqlite/internal/transaction.h>
#include <holdfast/engines/sqlite/internal/turn.h>
#include <holdfast/engines/sqlite/sqlite_options.h>

namespace holdfast::engines::sqlite::internal {

// The connection to an open file, which threads use one after the other.
//
// Thread-safe; waits, for threads and for processes, no longer than the deadline, or than the busy
// timeout where there is none. In a forked child nobody gets in: ErrorCode::unsupported.
class SharedConnection {
 public:
  // Opens the file, or makes one: errors as those of resolve() and open_database().
  [[nodiscard]] static base::Result<std::unique_ptr<SharedConnection>> open(
      const SqliteOptions& options, Access access);

  // The time in which a thread has the connection for itself.
  class Session {
   public:
    explicit Session(Turn& turn) noexcept : turn_(&turn) {}
    Session(Session&& other) noexcept : turn_(std::exchange(other.turn_, nullptr)) {}
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    Session& operator=(Session&&) = delete;
    ~Session() {
      if (turn_ != nullptr) {
        turn_->leave();
      }
    }

   private:
    Turn* turn_;
  };
  // Sets the deadline of the connection, too.
  [[nodiscard]] base::Result<Session> enter(base::Deadline deadline);

  // Returns whether this is the process that opened the file.
  [[nodiscard]] bool is_ours() const noexcept { return open_file_.is_ours(); }
  [[nodiscard]] base::Result<void> check_ours() const;

  // For the thread that has a Session.
  [[nodiscard]] Connection& connection() noexcept { return *connection_; }
  [[nodiscard]] Transactions& transactions() noexcept { return transactions_; }

 private:
  SharedConnection(base::Duration busy_timeout, OpenFile open_file,
                   std::unique_ptr<Connection> connection);

  const base::Duration busy_timeout_;
  const OpenFile open_file_;
  Turn turn_;
  const std::unique_ptr<Connection> connection_;
  Transactions transactions_;
};

}  // namespace holdfast::engines::sqlite::internal
