#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <sqlite3.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/sqlite/sqlite_store.h>

#include "engines.h"

namespace holdfast::conformance {

namespace {

using engines::sqlite::SqliteOptions;
using engines::sqlite::SqliteStore;
using testing::Place;

constexpr const char* kFile = "locks.db";

// Runs one statement with a name in it, past the engine; the first column of its first row.
int run_sql(const std::filesystem::path& file, const char* sql, std::string_view name) {
  sqlite3* plain = nullptr;
  if (sqlite3_open(file.c_str(), &plain) != SQLITE_OK) {
    throw std::runtime_error("cannot open the file");
  }
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)> database(plain, &sqlite3_close_v2);
  sqlite3_busy_timeout(plain, 60'000);
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(plain, sql, -1, &statement, nullptr);
  sqlite3_bind_blob(statement, 1, name.data(), static_cast<int>(name.size()), SQLITE_STATIC);
  const bool has_row = sqlite3_step(statement) == SQLITE_ROW;
  const int answer = has_row ? sqlite3_column_int(statement, 0) : 0;
  if (sqlite3_finalize(statement) != SQLITE_OK) {
    throw std::runtime_error(sqlite3_errmsg(plain));
  }
  return answer;
}

// Leases in no format that the engine knows.
std::function<bool()> plant_foreign(const std::filesystem::path& file, const std::string& name) {
  run_sql(file,
          "INSERT INTO records SELECT ?, epoch, 1, 1, 0, 0, 9223372036854775807, x'ff' FROM meta",
          name);
  return [file, name] {
    return run_sql(file, "SELECT count(*) FROM records WHERE name = ? AND leases = x'ff'", name) ==
           1;
  };
}

struct MovableFile {
  tests::TemporaryFolder folder;
  base::ManualClock clock;
};

// Keeps what the store needs as long as the store.
template <class Keep>
std::shared_ptr<SqliteStore> open(SqliteOptions options, Keep keep) {
  // Nothing is kept for names that are not in use, so that clean-up has something to do.
  options.retention = base::Duration::zero();
  auto store = base::value_or_throw(engines::sqlite::open_store(std::move(options)));
  SqliteStore* const plain = store.get();
  return {plain, [keep = std::move(keep), store = std::move(store)](SqliteStore*) mutable {
            store.reset();
            keep.reset();
          }};
}

Place movable_place() {
  const auto place = std::make_shared<MovableFile>();
  const auto open_it = [place] {
    return open({.file = place->folder / kFile,
                 .machine = {.clock = &place->clock, .boot_id = "the boot of the test"}},
                place);
  };
  return {.open = open_it,
          .advance = [place](base::Duration by) { place->clock.advance(by); },
          .clean_up = [open_it] { (void)base::value_or_throw(open_it()->sweep_now()); },
          .plant_foreign =
              [place](std::string_view name) {
                return plant_foreign(place->folder / kFile, std::string(name));
              }};
}

Place real_time_place() {
  const auto folder = std::make_shared<tests::TemporaryFolder>();
  return {.open = [folder] { return open({.file = *folder / kFile}, folder); },
          .url = "sqlite:" + (*folder / kFile).string()};
}

}  // namespace

testing::EngineUnderTest sqlite_engine() {
  return {.name = "sqlite",
          .make_place = movable_place,
          .make_real_time_place = real_time_place,
          .taker = HOLDFAST_TAKER};
}

}  // namespace holdfast::conformance
