#include <holdfast/engines/postgresql/internal/pool.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <holdfast/base/random.h>
#include <holdfast/base/try.h>

namespace holdfast::engines::postgresql::internal {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::Result;
using Kind = Trouble::Kind;

constexpr base::Duration kShortestPause = std::chrono::milliseconds(5);
constexpr base::Duration kLongestPause = std::chrono::milliseconds(250);

base::Duration jittered(base::Duration pause) {
  return base::Duration(static_cast<base::Duration::rep>(static_cast<double>(pause.count()) *
                                                         (0.5 + 0.5 * base::random_fraction())));
}

}  // namespace

Result<std::unique_ptr<Pool>> Pool::open(PostgresOptions options) {
  HOLDFAST_TRY_LET(Address address, Address::make(options));
  return std::unique_ptr<Pool>(new Pool(std::move(options), std::move(address)));
}

Pool::~Pool() {
  if (process_.is_inherited()) {
    for (ConnectionPtr& connection : idle_) {
      Connection::abandon(std::move(connection));
    }
  }
}

Result<void> Pool::check_process() const {
  if (process_.is_inherited()) {
    return fail(ErrorCode::unsupported,
                "the store was opened before the process forked: open another in the child");
  }
  return {};
}

Result<Rows> Pool::run(const Statement& statement, const Parameters& parameters, Changes changes,
                       Deadline deadline) {
  HOLDFAST_TRY(check_process());
  const auto& clock = base::steady_clock();
  const Deadline until =
      deadline.is_never() ? Deadline::after(clock, options_.reply_timeout) : deadline;
  const Deadline until_met = std::min(
      until, Deadline::after(clock, options_.connect_timeout * static_cast<int>(address_.hosts())));
  base::Duration pause = kShortestPause;
  for (;;) {
    HOLDFAST_TRY_LET(ConnectionPtr connection, borrow(until));
    auto rows = attempt(std::move(connection), statement, parameters,
                        std::min(until, Deadline::after(clock, options_.reply_timeout)));
    if (rows) [[likely]] {
      has_answered_.store(true, std::memory_order_relaxed);
      return *std::move(rows);
    }
    const Trouble& trouble = rows.error();
    if (trouble.kind == Kind::refused) {
      return std::unexpected(error_of(trouble));
    }
    if (trouble.kind == Kind::unknown && changes == Changes::yes) {
      return fail(ErrorCode::unknown_outcome,
                  "PostgreSQL did not answer as it should: " + trouble.message);
    }
    const base::Duration next = jittered(pause);
    const bool is_met = has_answered_.load(std::memory_order_relaxed) || !trouble.is_unreachable;
    if ((is_met ? until : until_met).remaining(clock.now()) <= next) {
      return fail(ErrorCode::unavailable,
                  (trouble.is_unreachable ? "PostgreSQL cannot be reached: "
                                          : "PostgreSQL did not answer as it should: ") +
                      trouble.message);
    }
    std::this_thread::sleep_for(next);
    pause = std::min(pause * 2, kLongestPause);
  }
}

Connection::Outcome<Rows> Pool::attempt(ConnectionPtr connection, const Statement& statement,
                                        const Parameters& parameters, Deadline deadline) {
  if (connection == nullptr) {
    auto fresh = connect(deadline);
    if (!fresh) {
      discard(nullptr);
      return std::unexpected(std::move(fresh).error());
    }
    connection = std::move(fresh->connection);
  }
  auto rows = connection->run(statement, parameters, deadline);
  if (rows) [[likely]] {
    give_back(std::move(connection));
  } else if (lacks_schema(rows.error())) {
    // The next connection makes it.
    rows.error().kind = Kind::not_done;
    discard(std::move(connection));
  } else if (rows.error().connection_is_bad) {
    discard(std::move(connection));
  } else {
    give_back(std::move(connection));
  }
  return rows;
}

// Each host has its own time, from the one that was good last.
Connection::Outcome<Pool::Fresh> Pool::connect(Deadline deadline, int stop) {
  const auto& clock = base::steady_clock();
  const std::size_t first = good_host_.load(std::memory_order_relaxed);
  Connection::Outcome<Fresh> made = std::unexpected(Trouble{});
  for (std::size_t i = 0; i < address_.hosts(); ++i) {
    const std::size_t host = (first + i) % address_.hosts();
    const Deadline until = std::min(deadline, Deadline::after(clock, options_.connect_timeout));
    auto connection = Connection::connect(address_, host, until, stop);
    if (!connection) {
      made = std::unexpected(std::move(connection).error());
      continue;
    }
    auto greeting = (*connection)->greet(schema_.statements().hello, schema_.records(), deadline);
    if (greeting) {
      if (auto ready = schema_.ensure(**connection, *greeting, deadline); !ready) {
        greeting = std::unexpected(std::move(ready).error());
      }
    }
    if (!greeting) {
      made = std::unexpected(std::move(greeting).error());
      if (made.error().kind == Kind::unknown) {
        made.error().kind = Kind::not_done;  // the schema may be there, and nothing else
      }
      continue;
    }
    good_host_.store(host, std::memory_order_relaxed);
    is_pooled_.store(!greeting->is_direct);
    return Fresh{.connection = *std::move(connection), .greeting = *std::move(greeting)};
  }
  return made;
}

Result<Pool::ConnectionPtr> Pool::borrow(Deadline deadline) {
  base::MutexLock guard(mutex_);
  constexpr base::Duration kMost = std::chrono::hours(24);  // what the standard library can add
  for (;;) {
    while (idle_.empty() && lent_ >= options_.max_connections) {
      const base::Duration wait = deadline.remaining(base::steady_clock().now());
      if (wait <= base::Duration::zero()) {
        return fail(ErrorCode::unavailable,
                    "all connections to PostgreSQL are in use: raise max_connections");
      }
      returned_.wait_for(mutex_, std::min(wait, kMost));
    }
    if (idle_.empty()) {
      ++lent_;
      return ConnectionPtr();
    }
    ConnectionPtr connection = std::move(idle_.back());
    idle_.pop_back();
    if (connection->is_quiet()) [[likely]] {
      ++lent_;
      return connection;
    }
    // The server has ended it: what would be sent over it, it would never do.
    guard.unlock();
    connection.reset();
    guard.lock();
  }
}

void Pool::give_back(ConnectionPtr connection) {
  const base::MutexLock guard(mutex_);
  idle_.push_back(std::move(connection));
  --lent_;
  returned_.notify_one();
}

void Pool::discard(ConnectionPtr connection) {
  std::vector<ConnectionPtr> useless;
  {
    const base::MutexLock guard(mutex_);
    useless.swap(idle_);
    --lent_;
    returned_.notify_all();
  }
  connection.reset();
}

}  // namespace holdfast::engines::postgresql::internal
