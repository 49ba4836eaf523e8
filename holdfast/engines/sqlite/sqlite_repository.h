#pragma once

#include <memory>

#include <holdfast/engines/sqlite/sqlite_options.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::engines::sqlite {

// Objects in a file, shared by the processes of one machine. It may be the file of a SqliteStore:
// leases and objects then live side by side, whichever was there first.
//
// Thread-safe: calls of one repository take turns, in the order in which they came. A call waits
// for threads and processes until its deadline, or for the busy timeout if it has none, and reports
// ErrorCode::unavailable then.
//
// Each call is one transaction. What was answered as done survives a crash of any process. A power
// cut, or a crash of the system, may undo the last calls, those since SQLite last copied its log
// into the file; what is left is a state that was there before, with nothing torn.
//
// What was erased with a token, or loaded with one and not found, leaves its token behind for
// SqliteOptions::retention by the machine's boot clock, and no longer than to the next boot, which
// no holder lives to see. Every change drops a few that are older.
//
// Forks, network file systems, and a file that is moved or removed: as SqliteStore says.
//
//   auto repository = SqliteRepository::open({.file = "/var/lib/jobs/app.db"});
//   if (!repository) { report(repository.error()); }
class SqliteRepository final : public store::ObjectRepository {
 public:
  // Opens the file, or makes it. Errors as those of SqliteStore::open().
  [[nodiscard]] static base::Result<std::shared_ptr<SqliteRepository>> open(SqliteOptions options);
  ~SqliteRepository() override;

  [[nodiscard]] store::RepositoryCapabilities capabilities() const override;

 private:
  class Engine;

  explicit SqliteRepository(std::unique_ptr<Engine> engine) noexcept;

  base::Result<store::LoadOutcome> do_load(const store::ObjectKey& key, base::FencingToken token,
                                           base::Deadline deadline) override;
  base::Result<std::vector<store::SaveOutcome>> do_save(std::span<const store::ObjectSave> saves,
                                                        store::Batch batch,
                                                        base::Deadline deadline) override;
  base::Result<store::EraseOutcome> do_erase(const store::ObjectKey& key, base::FencingToken token,
                                             base::Deadline deadline) override;
  base::Result<store::IdPage> do_list(std::string_view type, std::string_view prefix,
                                      std::size_t limit, std::string_view after,
                                      base::Deadline deadline) override;

  std::unique_ptr<Engine> engine_;
};

}  // namespace holdfast::engines::sqlite
