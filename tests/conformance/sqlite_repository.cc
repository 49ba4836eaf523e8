#include <holdfast/engines/sqlite/sqlite_repository.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <utility>

#include <sqlite3.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/base/manual_clock.h>

#include "repositories.h"

namespace holdfast::conformance {

namespace {

using engines::sqlite::SqliteOptions;
using testing::RepositoryPlace;

constexpr const char* kFile = "objects.db";

// Another program that has the file locked.
class Locker {
 public:
  explicit Locker(std::filesystem::path file) : file_(std::move(file)) {}
  ~Locker() { sqlite3_close_v2(database_); }
  Locker(const Locker&) = delete;
  Locker& operator=(const Locker&) = delete;

  void lock() {
    if (database_ == nullptr) {
      sqlite3_open(file_.c_str(), &database_);
      sqlite3_busy_timeout(database_, 60'000);
    }
    run("BEGIN IMMEDIATE");
  }
  void unlock() { run("ROLLBACK"); }

 private:
  void run(const char* sql) {
    if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(database_));
    }
  }

  const std::filesystem::path file_;
  sqlite3* database_ = nullptr;
};

struct Movable {
  tests::TemporaryFolder folder;
  base::ManualClock clock;
  Locker locker{folder / kFile};
};

// Keeps what the repository needs as long as the repository.
template <class Keep>
std::shared_ptr<store::ObjectRepository> open(SqliteOptions options, Keep keep) {
  // A loaded machine is slow, and slowness is not what is tested.
  options.busy_timeout = std::chrono::seconds(60);
  auto repository = base::value_or_throw(engines::sqlite::open_repository(std::move(options)));
  store::ObjectRepository* const plain = repository.get();
  return {plain, [keep = std::move(keep),
                  repository = std::move(repository)](store::ObjectRepository*) mutable {
            repository.reset();
            keep.reset();
          }};
}

RepositoryPlace place() {
  const auto folder = std::make_shared<tests::TemporaryFolder>();
  return {.open = [folder] { return open({.file = *folder / kFile}, folder); },
          .url = "sqlite:" + (*folder / kFile).string() + "?busy_timeout=60s"};
}

RepositoryPlace frail_place() {
  const auto made = std::make_shared<Movable>();
  return {.open =
              [made] {
                return open({.file = made->folder / kFile,
                             .machine = {.clock = &made->clock, .boot_id = "the boot of the test"}},
                            made);
              },
          .hang = [made] { made->locker.lock(); },
          .go_on = [made] { made->locker.unlock(); },
          .outlast_retention = [made] { made->clock.advance(std::chrono::hours(1)); }};
}

}  // namespace

testing::RepositoryUnderTest sqlite_repository() {
  return {.name = "sqlite",
          .make_place = place,
          .make_frail_place = frail_place,
          .saver = HOLDFAST_SAVER};
}

}  // namespace holdfast::conformance
