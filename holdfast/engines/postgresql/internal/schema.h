#pragma once

#include <string>
#include <string_view>

#include <holdfast/base/deadline.h>
#include <holdfast/engines/postgresql/internal/connection.h>
#include <holdfast/engines/postgresql/internal/statement.h>
#include <holdfast/engines/postgresql/postgres_options.h>

namespace holdfast::engines::postgresql::internal {

// The schema with our tables and functions: how it is made, and the statements that use it.
//
// Thread-safe: constant.
class Schema {
 public:
  // The version of the tables and functions. A server that has a later one is left as it is.
  static constexpr int kVersion = 1;

  explicit Schema(const PostgresOptions& options);

  // Returns what makes the schema, or brings one that is older up to date.
  [[nodiscard]] const std::string& creation() const noexcept { return creation_; }

  // Sees to it that the server has the schema, as its greeting says.
  [[nodiscard]] Connection::Outcome<void> ensure(Connection& connection,
                                                 const Connection::Greeting& greeting,
                                                 base::Deadline deadline) const;

  // Returns what `LISTEN`s as the store with this number, and lets it count as alive.
  [[nodiscard]] static std::string listen(std::int64_t store);

  // The table of records, as to_regclass() takes it.
  [[nodiscard]] const std::string& records() const noexcept { return records_; }

  struct Statements {
    Statement hello;
    Statement claim, renew, transfer, release, look, list, hit, watch, pass_on;
    Statement load, save, erase, list_objects;
    Statement diagnose;
  };
  [[nodiscard]] const Statements& statements() const noexcept { return statements_; }

 private:
  [[nodiscard]] std::string filled(std::string_view text) const;
  [[nodiscard]] Statement statement(std::string_view name, std::string_view sql) const;
  [[nodiscard]] Trouble may_not_create(const Trouble& trouble, const std::string& user) const;

  const std::string name_;
  const std::string quoted_;
  const std::string records_;
  const bool commits_without_waiting_;
  const std::string creation_;
  const Statements statements_;
};

}  // namespace holdfast::engines::postgresql::internal
