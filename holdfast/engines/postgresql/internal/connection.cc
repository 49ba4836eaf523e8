#include <holdfast/engines/postgresql/internal/connection.h>

#include <poll.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <optional>
#include <vector>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/postgresql/internal/sql_states.h>

namespace holdfast::engines::postgresql::internal {

namespace {

using base::Deadline;
using Kind = Trouble::Kind;
using std::chrono::seconds;

// Returns the time left, as ppoll() takes it; nullopt for a deadline without end.
std::optional<timespec> left_until(Deadline deadline) {
  if (deadline.is_never()) {
    return std::nullopt;
  }
  const base::Duration left = deadline.remaining(base::steady_clock().now());
  const auto whole = std::chrono::duration_cast<seconds>(left);
  return timespec{.tv_sec = whole.count(), .tv_nsec = (left - whole).count()};
}

// Notices would be written to the standard error stream.
void ignore_notice(void*, const PGresult*) {}

// A prepared statement that the session does not know, or knows already: a pooler that we did not
// recognize has given us another one.
bool is_of_another_session(const Trouble& trouble) {
  return trouble.state == sql_state::kInvalidStatementName ||
         trouble.state == sql_state::kDuplicatePreparedStatement;
}

}  // namespace

Connection::~Connection() {
  if (connection_ != nullptr) {
    libpq_.finish(connection_);
  }
}

Connection::Ready Connection::wait(short events, Deadline deadline) const {
  // poll() ignores a negative descriptor.
  std::array<pollfd, 2> descriptors{
      pollfd{.fd = libpq_.socket(connection_), .events = events, .revents = 0},
      pollfd{.fd = stop_, .events = POLLIN, .revents = 0}};
  for (;;) {
    const auto left = left_until(deadline);
    const int ready =
        ::ppoll(descriptors.data(), descriptors.size(), left ? &*left : nullptr, nullptr);
    if (ready > 0) {
      return descriptors[1].revents != 0 ? Ready::stopped : Ready::yes;
    }
    if (ready == 0 || errno != EINTR) {
      return Ready::too_late;
    }
  }
}

Trouble Connection::lost(Kind kind) const {
  const char* const said = connection_ == nullptr ? nullptr : libpq_.error_message(connection_);
  std::string_view message = said == nullptr ? "there is no memory" : said;
  while (message.ends_with('\n')) {
    message.remove_suffix(1);
  }
  return {.kind = kind,
          .connection_is_bad = true,
          .message = message.empty() ? "the connection was lost" : base::printable(message)};
}

Connection::Outcome<std::unique_ptr<Connection>> Connection::connect(const Address& address,
                                                                     std::size_t host,
                                                                     Deadline deadline, int stop) {
  std::unique_ptr<Connection> made(new Connection(address, stop));
  const Libpq& libpq = address.libpq();
  const auto parameters = address.parameters(host);
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : parameters) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  made->connection_ = libpq.connect_start_params(keywords.data(), values.data(), 0);
  const auto fail = [&] {
    Trouble trouble = made->lost(Kind::not_done);
    trouble.is_unreachable = true;
    return std::unexpected(std::move(trouble));
  };
  if (made->connection_ == nullptr || libpq.status(made->connection_) == CONNECTION_BAD) {
    return fail();
  }
  libpq.set_notice_receiver(made->connection_, ignore_notice, nullptr);
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (next != PGRES_POLLING_OK) {
    if (next == PGRES_POLLING_FAILED) {
      return fail();
    }
    const short events = next == PGRES_POLLING_READING ? short{POLLIN} : short{POLLOUT};
    const Ready ready = made->wait(events, deadline);
    if (ready != Ready::yes) {
      return std::unexpected(Trouble{.kind = Kind::not_done,
                                     .connection_is_bad = true,
                                     .is_unreachable = true,
                                     .message = "no connection was made in time"});
    }
    next = libpq.connect_poll(made->connection_);
  }
  if (libpq.set_nonblocking(made->connection_, 1) != 0) {
    return fail();
  }
  return made;
}

bool Connection::is_quiet() const {
  pollfd descriptor{.fd = libpq_.socket(connection_), .events = POLLIN, .revents = 0};
  return ::poll(&descriptor, 1, 0) == 0;
}

// Reads all results of what was sent. Returns the last with rows, or the first error.
Connection::Outcome<Rows> Connection::collect(Deadline deadline) {
  Rows rows;
  std::optional<Trouble> trouble;
  for (;;) {
    const int unsent = libpq_.flush(connection_);
    if (unsent < 0) {
      return std::unexpected(lost(Kind::unknown));
    }
    if (unsent == 0 && libpq_.is_busy(connection_) == 0) {
      PGresult* const result = libpq_.get_result(connection_);
      if (result == nullptr) {
        break;
      }
      Rows received(libpq_, result);
      const ExecStatusType status = libpq_.result_status(result);
      if (status == PGRES_TUPLES_OK) {
        rows = std::move(received);
      } else if (status != PGRES_COMMAND_OK && status != PGRES_EMPTY_QUERY && !trouble) {
        const char* const state = libpq_.error_field(result, PG_DIAG_SQLSTATE);
        const char* const message = libpq_.error_field(result, PG_DIAG_MESSAGE_PRIMARY);
        trouble = state != nullptr ? trouble_of(state, message == nullptr ? "" : message)
                                   : lost(Kind::unknown);
      }
      continue;
    }
    const auto events = static_cast<short>(unsent > 0 ? POLLIN | POLLOUT : POLLIN);
    if (wait(events, deadline) != Ready::yes) {
      return std::unexpected(Trouble{.kind = Kind::unknown,
                                     .connection_is_bad = true,
                                     .message = "the server has not answered in time"});
    }
    if (libpq_.consume_input(connection_) == 0) {
      // The last words of a server that has ended the connection come as a result.
      if (libpq_.is_busy(connection_) != 0) {
        return std::unexpected(lost(Kind::unknown));
      }
    }
  }
  if (trouble) {
    trouble->connection_is_bad =
        trouble->connection_is_bad || libpq_.status(connection_) == CONNECTION_BAD;
    return std::unexpected(*std::move(trouble));
  }
  return rows;
}

Connection::Outcome<void> Connection::prepare(const Statement& statement, Deadline deadline) {
  if (libpq_.send_prepare(connection_, statement.name.c_str(), statement.sql.c_str(), 0, nullptr) ==
      0) {
    return std::unexpected(lost(Kind::not_done));
  }
  auto prepared = collect(deadline);
  if (!prepared) {
    // Whatever it was, nothing was done.
    Trouble trouble = std::move(prepared).error();
    if (trouble.kind == Kind::unknown) {
      trouble.kind = Kind::not_done;
    }
    return std::unexpected(std::move(trouble));
  }
  prepared_.insert(statement.name);
  return {};
}

Connection::Outcome<Rows> Connection::run_once(const Statement& statement,
                                               const Parameters& parameters, Deadline deadline) {
  if (prepares_ && !prepared_.contains(statement.name)) {
    HOLDFAST_TRY(prepare(statement, deadline));
  }
  const std::size_t count = parameters.count();
  std::vector<const char*> values(count);
  std::vector<int> lengths(count);
  const std::vector<int> formats(count, 1);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = parameters.is_null(i) ? nullptr : parameters[i].data();
    lengths[i] = parameters.is_null(i) ? 0 : static_cast<int>(parameters[i].size());
  }
  const int sent =
      prepares_
          ? libpq_.send_query_prepared(connection_, statement.name.c_str(), static_cast<int>(count),
                                       values.data(), lengths.data(), formats.data(), 1)
          : libpq_.send_query_params(connection_, statement.sql.c_str(), static_cast<int>(count),
                                     nullptr, values.data(), lengths.data(), formats.data(), 1);
  if (sent == 0) {
    return std::unexpected(lost(Kind::not_done));
  }
  return collect(deadline);
}

Connection::Outcome<Rows> Connection::run(const Statement& statement, const Parameters& parameters,
                                          Deadline deadline) {
  auto rows = run_once(statement, parameters, deadline);
  if (!rows && prepares_ && is_of_another_session(rows.error())) {
    prepares_ = false;
    return run_once(statement, parameters, deadline);
  }
  return rows;
}

Connection::Outcome<void> Connection::run_all(const std::string& sql, Deadline deadline) {
  if (libpq_.send_query(connection_, sql.c_str()) == 0) {
    return std::unexpected(lost(Kind::not_done));
  }
  HOLDFAST_TRY(collect(deadline));
  return {};
}

Connection::Outcome<void> Connection::listen(
    const std::function<void(std::string_view payload)>& callback, Deadline deadline) {
  // Some may have come with an answer.
  PGnotify* notification = libpq_.notifies(connection_);
  if (notification == nullptr && wait(POLLIN, deadline) == Ready::yes) {
    if (libpq_.consume_input(connection_) == 0 || libpq_.status(connection_) != CONNECTION_OK) {
      return std::unexpected(lost(Kind::not_done));
    }
    notification = libpq_.notifies(connection_);
  }
  for (; notification != nullptr; notification = libpq_.notifies(connection_)) {
    callback(notification->extra);
    libpq_.free_memory(notification);
  }
  return {};
}

Connection::Outcome<Connection::Greeting> Connection::greet(const Statement& hello,
                                                            std::string_view records,
                                                            Deadline deadline) {
  HOLDFAST_TRY_LET(const auto rows, run(hello, Parameters().bytes(records), deadline));
  Greeting greeting;
  greeting.is_direct = rows.number(0, 0) == libpq_.backend_pid(connection_);
  greeting.version = rows.number(0, 2).value_or(0);
  greeting.schema = rows.bytes(0, 3).value_or("");
  greeting.user = rows.bytes(0, 4).value_or("");
  prepares_ = greeting.is_direct;
  return greeting;
}

}  // namespace holdfast::engines::postgresql::internal
