// A transfer between accounts of a PostgreSQL database, under a lock in the same database. One
// worker is stopped past the ttl of its lock, in the middle of its work; another does the transfer.
// When the first goes on, its transaction is refused: the money moves once, whatever the clocks
// say.
//
//   asserted_transfer postgresql://host/database
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include <libpq-fe.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

using namespace std::chrono_literals;

namespace {

using Database = std::unique_ptr<PGconn, decltype(&PQfinish)>;

// Returns the first value of the answer.
std::string run(PGconn* database, const std::string& sql) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(database, sql.c_str()),
                                                             &PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    throw std::runtime_error(PQerrorMessage(database));
  }
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

// Moves 10 from one account to the other. Throws if the lock with this token is not held any more.
void transfer(PGconn* database, holdfast::base::FencingToken token) {
  run(database, "BEGIN");
  try {
    run(database, "SELECT holdfast.assert_held('accounts', " + to_string(token) + ")");
    run(database, "UPDATE accounts SET balance = balance - 10 WHERE id = 1");
    run(database, "UPDATE accounts SET balance = balance + 10 WHERE id = 2");
    run(database, "COMMIT");
  } catch (...) {
    PQclear(PQexec(database, "ROLLBACK"));
    throw;
  }
}

// Acquires the lock, and is then stopped by its parent before the transfer.
int slow_worker(const std::string& url) {
  const Database database(PQconnectdb(url.c_str()), &PQfinish);
  holdfast::locks::LockProvider locks(
      holdfast::base::value_or_throw(holdfast::engines::open_store(url)));
  const auto lock = locks.acquire("accounts", {.ttl = 500ms});
  std::raise(SIGSTOP);
  try {
    transfer(database.get(), lock.token());
    return EXIT_SUCCESS;
  } catch (const std::runtime_error& refused) {
    std::cout << "slow worker: " << refused.what();
    return EXIT_FAILURE;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: asserted_transfer postgresql://host/database\n";
    return 64;
  }
  const std::string url = argv[1];
  const pid_t slow = fork();
  if (slow == 0) {
    return slow_worker(url);
  }
  const Database database(PQconnectdb(url.c_str()), &PQfinish);
  run(database.get(), "CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL)");
  run(database.get(), "INSERT INTO accounts VALUES (1, 100), (2, 0)");
  int status = 0;
  waitpid(slow, &status, WUNTRACED);  // it has the lock, and stands still

  holdfast::locks::LockProvider locks(
      holdfast::base::value_or_throw(holdfast::engines::open_store(url)));
  transfer(database.get(), locks.acquire("accounts").token());
  std::cout << "quick worker: moved 10\n";

  kill(slow, SIGCONT);
  waitpid(slow, &status, 0);
  const bool was_refused = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE;
  const std::string moved = run(database.get(), "SELECT balance FROM accounts WHERE id = 2");
  std::cout << "account 2 has " << moved << "\n";
  return was_refused && moved == "10" ? EXIT_SUCCESS : EXIT_FAILURE;
}
