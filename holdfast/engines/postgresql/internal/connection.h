#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <holdfast/base/deadline.h>
#include <holdfast/engines/postgresql/internal/address.h>
#include <holdfast/engines/postgresql/internal/parameters.h>
#include <holdfast/engines/postgresql/internal/rows.h>
#include <holdfast/engines/postgresql/internal/statement.h>
#include <holdfast/engines/postgresql/internal/trouble.h>

namespace holdfast::engines::postgresql::internal {

// One connection to a server. For one thread at a time. Every call ends by its deadline, give or
// take what the resolver of host names takes.
//
// Keeps no state in the server's session, so that a pooler may give each statement another one;
// except that statements are prepared where the server says that there is no pooler.
class Connection {
 public:
  template <class T>
  using Outcome = std::expected<T, Trouble>;

  // Connects to one host of the address, which outlives the connection. `stop`, a descriptor, ends
  // every call when it is readable.
  [[nodiscard]] static Outcome<std::unique_ptr<Connection>> connect(const Address& address,
                                                                    std::size_t host,
                                                                    base::Deadline deadline,
                                                                    int stop = -1);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Runs one statement, a transaction of its own.
  [[nodiscard]] Outcome<Rows> run(const Statement& statement, const Parameters& parameters,
                                  base::Deadline deadline);
  // Runs several statements without parameters, all in one transaction.
  [[nodiscard]] Outcome<void> run_all(const std::string& sql, base::Deadline deadline);

  // Returns whether nothing has come from the server since the last answer: what comes unasked is
  // a good-bye.
  [[nodiscard]] bool is_quiet() const;

  // Blocks until something comes from the server, `stop` is readable, or the deadline. Calls back
  // for each notification that has come.
  [[nodiscard]] Outcome<void> listen(const std::function<void(std::string_view payload)>& callback,
                                     base::Deadline deadline);

  // The answer of a server to kHello: its properties.
  struct Greeting {
    bool is_direct = false;  // there is no pooler in between
    std::int64_t version = 0;
    std::string schema{};  // what the comment on its table of records says; empty: there is none
    std::string user{};
  };
  [[nodiscard]] Outcome<Greeting> greet(const Statement& hello, std::string_view records,
                                        base::Deadline deadline);

  // In a forked child: forgets everything without a word to the server.
  static void abandon(std::unique_ptr<Connection> connection) noexcept {
    (void)connection.release();
  }

 private:
  Connection(const Address& address, int stop) noexcept : libpq_(address.libpq()), stop_(stop) {}

  enum class Ready : std::uint8_t { yes, stopped, too_late };
  [[nodiscard]] Ready wait(short events, base::Deadline deadline) const;
  Outcome<Rows> collect(base::Deadline deadline);
  Outcome<Rows> run_once(const Statement& statement, const Parameters& parameters,
                         base::Deadline deadline);
  Outcome<void> prepare(const Statement& statement, base::Deadline deadline);
  [[nodiscard]] Trouble lost(Trouble::Kind kind) const;

  const Libpq& libpq_;
  const int stop_;
  PGconn* connection_ = nullptr;
  bool prepares_ = false;
  std::set<std::string_view> prepared_;
};

}  // namespace holdfast::engines::postgresql::internal
