#pragma once

#include <memory>
#include <string>
#include <vector>

#include <libpq-fe.h>

namespace holdfast::bench_postgresql {

// The code of a program without a lock library: libpq, one connection each, prepared statements.
// The lower bound of the other figures. Not thread-safe. What goes wrong ends the program.
class BareClient {
 public:
  explicit BareClient(const std::string& url);

  // Prepares a statement, and runs one that was prepared.
  void prepare(const std::string& name, const std::string& sql);
  void run(const std::string& name, const std::vector<std::string>& parameters);
  // Runs it so often in one pipeline.
  void run_many(const std::string& name, const std::string& parameter, int count);
  // Runs a statement as it is; the second returns the first value of its answer.
  void run(const std::string& sql);
  [[nodiscard]] std::string ask(const std::string& sql);

  // Blocks until a notification comes.
  void await_notification();

 private:
  struct Finish {
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
  };

  void check(PGresult* result) const;

  std::unique_ptr<PGconn, Finish> connection_;
};

}  // namespace holdfast::bench_postgresql
