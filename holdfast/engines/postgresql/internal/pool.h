#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/mutex.h>
#include <holdfast/base/process_mark.h>
#include <holdfast/engines/postgresql/internal/connection.h>
#include <holdfast/engines/postgresql/internal/schema.h>
#include <holdfast/engines/postgresql/postgres_options.h>

namespace holdfast::engines::postgresql::internal {

// A few connections that all threads share, and patience with a server that restarts or fails over.
//
// Thread-safe. Blocks until the deadline; without one, until PostgresOptions::reply_timeout has
// passed. A server that has never answered, and to which no connection can be made, is given up
// after PostgresOptions::connect_timeout for each host: its address is probably wrong. In a forked
// child everything is ErrorCode::unsupported.
//
// Errors: unavailable, if nothing was done; unknown_outcome, if that is not known; what the server
// refuses is final (see trouble.h).
class Pool {
 public:
  // Understands the options and loads libpq. Connects when it is first used.
  [[nodiscard]] static base::Result<std::unique_ptr<Pool>> open(PostgresOptions options);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // `yes`: the statement may have changed something, if its answer is lost.
  enum class Changes : std::uint8_t { yes, no };
  // Runs one of schema().statements().
  [[nodiscard]] base::Result<Rows> run(const Statement& statement, const Parameters& parameters,
                                       Changes changes, base::Deadline deadline);

  // Makes a connection beside those of the pool, to a server that has the schema. `stop`: see
  // Connection::connect.
  struct Fresh {
    std::unique_ptr<Connection> connection;
    Connection::Greeting greeting;
  };
  [[nodiscard]] Connection::Outcome<Fresh> connect(base::Deadline deadline, int stop = -1);

  // Returns whether a pooler is in between, as far as is known.
  [[nodiscard]] bool is_pooled() const noexcept { return is_pooled_.load(); }
  [[nodiscard]] base::Result<void> check_process() const;
  [[nodiscard]] const PostgresOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }

 private:
  Pool(PostgresOptions options, Address address)
      : options_(std::move(options)), address_(std::move(address)), schema_(options_) {}

  using ConnectionPtr = std::unique_ptr<Connection>;

  // Waits for a connection that is free, or for the right to make one: then it is null.
  [[nodiscard]] base::Result<ConnectionPtr> borrow(base::Deadline deadline);
  void give_back(ConnectionPtr connection);
  // Ends a connection, and those that are idle: they are probably no better.
  void discard(ConnectionPtr connection);
  // Runs the statement on a connection that was borrowed, and gives that back.
  Connection::Outcome<Rows> attempt(ConnectionPtr connection, const Statement& statement,
                                    const Parameters& parameters, base::Deadline deadline);

  const PostgresOptions options_;
  const Address address_;
  const Schema schema_;
  const base::ProcessMark process_;
  std::atomic<bool> has_answered_ = false;
  std::atomic<bool> is_pooled_ = false;
  std::atomic<std::size_t> good_host_ = 0;  // the one that was last connected to

  base::Mutex mutex_;
  base::ConditionVariable returned_;
  // The last one used is last.
  std::vector<ConnectionPtr> idle_ HOLDFAST_GUARDED_BY(mutex_);
  std::size_t lent_ HOLDFAST_GUARDED_BY(mutex_) = 0;
};

}  // namespace holdfast::engines::postgresql::internal
