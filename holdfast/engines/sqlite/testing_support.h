#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/sqlite/sqlite_store.h>

// For the tests of this folder.
namespace holdfast::engines::sqlite::testing {

using Folder = tests::TemporaryFolder;

inline std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

// Another program that knows SQLite and has the file open.
class Stranger {
 public:
  explicit Stranger(const std::filesystem::path& file) {
    EXPECT_EQ(sqlite3_open(file.c_str(), &db_), SQLITE_OK);
  }
  ~Stranger() { sqlite3_close_v2(db_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  void run(const std::string& sql) {
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_free(message);
  }
  // The first column of the first row, as text.
  std::string ask(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr), SQLITE_OK);
    std::string answer;
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_bytes(statement, 0) > 0) {
      answer.assign(static_cast<const char*>(sqlite3_column_blob(statement, 0)),
                    static_cast<std::size_t>(sqlite3_column_bytes(statement, 0)));
    }
    sqlite3_finalize(statement);
    return answer;
  }

 private:
  sqlite3* db_ = nullptr;
};

inline store::Claim claim_of(const base::LeaseId& id, base::Ttl ttl = std::chrono::seconds(10)) {
  return {.id = id, .owner = "tester", .reason = "a test", .ttl = ttl};
}

// The token, or zero (and a failed test) if it was not granted.
inline std::uint64_t take(store::LeaseStore& store, std::string_view name, const base::LeaseId& id,
                          base::Ttl ttl = std::chrono::seconds(10)) {
  const auto outcome = store.claim(name, claim_of(id, ttl));
  if (!outcome) {
    ADD_FAILURE() << to_string(outcome.error());
    return 0;
  }
  const auto* const grant = std::get_if<store::Grant>(&*outcome);
  EXPECT_NE(grant, nullptr) << "the name is held";
  return grant != nullptr ? grant->token.value() : 0;
}

inline bool is_held(store::LeaseStore& store, std::string_view name) {
  const auto state = store.look(name);
  EXPECT_TRUE(state.has_value()) << to_string(state.error());
  return state && *state;
}

// Takes the name and gives it back.
inline std::uint64_t use(store::LeaseStore& store, std::string_view name) {
  const auto id = base::LeaseId::generate();
  const std::uint64_t token = take(store, name, id);
  EXPECT_EQ(store.release(name, id), store::ReleaseOutcome::released);
  return token;
}

inline std::shared_ptr<SqliteStore> open(SqliteOptions options) {
  auto store = open_store(std::move(options));
  EXPECT_TRUE(store.has_value()) << to_string(store.error());
  return store ? *store : nullptr;
}

// Runs the function in a forked child and returns what it returned.
inline int in_child(const std::function<int()>& body) {
  std::fflush(nullptr);  // or the child would write it too
  const pid_t child = fork();
  if (child == 0) {
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace holdfast::engines::sqlite::testing
