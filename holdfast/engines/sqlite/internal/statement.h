#pragma once

#include <cstdint>
#include <string_view>

#include <holdfast/base/error.h>

struct sqlite3_stmt;

namespace holdfast::engines::sqlite::internal {

class Connection;

// A statement, prepared at its first use and kept. One thread at a time; goes before its
// connection.
//
//   Statement::Use use(save);
//   use.bind(1, name);
//   base::Result<bool> row = use.step();
class Statement {
 public:
  // `sql` is one statement and outlives this.
  Statement(Connection& connection, const char* sql) noexcept
      : connection_(connection), sql_(sql) {}
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Steps it once; for what answers nothing.
  [[nodiscard]] base::Result<void> run();

  // One execution. At its end the statement is reset, and with it goes its read lock.
  class Use {
   public:
    explicit Use(Statement& statement) noexcept : statement_(statement) {}
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

    // Parameters count from 1. The bytes must outlive the use. A failure shows in `step`.
    void bind(int parameter, std::int64_t value);
    void bind(int parameter, std::string_view bytes);
    void bind_text(int parameter, std::string_view text);

    // Returns whether there is a row (another one).
    [[nodiscard]] base::Result<bool> step();

    // Columns count from 0; bytes are valid until the next step.
    [[nodiscard]] bool is_null(int column) const;
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] std::string_view bytes(int column) const;

   private:
    bool prepare();

    Statement& statement_;
    int rc_ = 0;
  };

 private:
  Connection& connection_;
  const char* const sql_;
  sqlite3_stmt* prepared_ = nullptr;
};

}  // namespace holdfast::engines::sqlite::internal
