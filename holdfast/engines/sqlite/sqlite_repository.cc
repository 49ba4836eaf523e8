#include <holdfast/engines/sqlite/sqlite_repository.h>

#include <optional>
#include <string>
#include <utility>

#include <holdfast/base/saturate.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/sqlite/internal/check_options.h>
#include <holdfast/engines/sqlite/internal/ledger.h>
#include <holdfast/engines/sqlite/internal/machine.h>
#include <holdfast/engines/sqlite/internal/objects.h>
#include <holdfast/engines/sqlite/internal/schema_check.h>
#include <holdfast/engines/sqlite/internal/shared_connection.h>

namespace holdfast::engines::sqlite {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::FencingToken;
using base::Result;
using internal::Objects;
using store::Batch;
using store::LoadOutcome;
using store::ObjectKey;
using store::ObjectSave;
using store::Refused;
using store::SaveOutcome;
using Row = std::optional<Objects::Row>;

bool is_stale(FencingToken token, const Row& row) { return row && token < row->newest; }

// The tables of an open file, used by the caller that has a session.
class ObjectTables {
 public:
  static Result<std::unique_ptr<ObjectTables>> open(SqliteOptions options);

  // Runs `work()`, which changes something, as one step. Tokens that are due go with it.
  template <class Work>
  std::invoke_result_t<Work> change(const Work& work) {
    return shared->transactions().run([&]() -> std::invoke_result_t<Work> {
      HOLDFAST_TRY(
          objects.forget_some(base::add_saturating(options.machine.now(), -options.retention)));
      return work();
    });
  }

  // Within `change`.
  Result<LoadOutcome> load(const ObjectKey& key, FencingToken token);
  Result<std::vector<SaveOutcome>> save(std::span<const ObjectSave> saves, Batch batch);
  Result<store::EraseOutcome> erase(const ObjectKey& key, FencingToken token);

  const SqliteOptions options;
  const std::unique_ptr<internal::SharedConnection> shared;
  Objects objects;

 private:
  ObjectTables(SqliteOptions the_options, std::unique_ptr<internal::SharedConnection> connection,
               std::int64_t epoch)
      : options(std::move(the_options)),
        shared(std::move(connection)),
        objects(shared->connection(), epoch) {}

  [[nodiscard]] Result<void> check_time() const {
    if (shared->connection().deadline().expired(base::steady_clock().now())) {
      return fail(ErrorCode::unavailable,
                  "the deadline passed during the batch, nothing was saved");
    }
    return {};
  }
};

Result<std::unique_ptr<ObjectTables>> ObjectTables::open(SqliteOptions options) {
  HOLDFAST_TRY_LET(Machine machine, internal::complete(std::move(options.machine)));
  options.machine = std::move(machine);
  HOLDFAST_TRY_LET(auto shared,
                   internal::SharedConnection::open(options, internal::Access::read_write));
  internal::Connection& connection = shared->connection();
  HOLDFAST_TRY_LET(const std::int64_t epoch,
                   internal::Ledger(connection, shared->transactions(), options.machine)
                       .enter_epoch(options.machine.boot_id));
  HOLDFAST_TRY(internal::make_objects(connection, shared->transactions()));
  HOLDFAST_TRY(internal::check_schema(connection, internal::object_columns()));
  std::unique_ptr<ObjectTables> tables(
      new ObjectTables(std::move(options), std::move(shared), epoch));
  // Tables that are not ours are reported now rather than later.
  std::optional<std::string> none;
  HOLDFAST_TRY(tables->objects.load({}, none));
  return tables;
}

Result<LoadOutcome> ObjectTables::load(const ObjectKey& key, FencingToken token) {
  std::optional<std::string> data;
  HOLDFAST_TRY_LET(const Row row, objects.load(key, data));
  if (is_stale(token, row)) {
    return Refused{row->newest};
  }
  if (!data) {
    auto kept = objects.drop(key, row, token, options.machine.now());
    return kept ? Result<LoadOutcome>(store::Absent{}) : std::unexpected(std::move(kept).error());
  }
  if (row->newest != token) {
    HOLDFAST_TRY(objects.raise(*row, token));
  }
  return store::Loaded{*std::move(data)};
}

Result<std::vector<SaveOutcome>> ObjectTables::save(std::span<const ObjectSave> saves,
                                                    Batch batch) {
  std::vector<SaveOutcome> outcomes;
  std::vector<Row> rows;
  outcomes.reserve(saves.size());
  rows.reserve(saves.size());
  bool any_refused = false;
  for (const ObjectSave& save : saves) {
    HOLDFAST_TRY_LET(Row row, objects.find(save.key));
    const bool refused = is_stale(save.token, row);
    outcomes.push_back(refused ? SaveOutcome(Refused{row->newest}) : store::Saved{});
    rows.push_back(row);
    any_refused = any_refused || refused;
  }
  for (std::size_t i = 0; i < saves.size(); ++i) {
    if (std::holds_alternative<Refused>(outcomes[i])) {
      continue;
    }
    if (any_refused && batch == Batch::all_or_none) {
      outcomes[i] = store::Withheld{};
      continue;
    }
    HOLDFAST_TRY(check_time());
    HOLDFAST_TRY(objects.put(saves[i], rows[i]));
  }
  return outcomes;
}

Result<store::EraseOutcome> ObjectTables::erase(const ObjectKey& key, FencingToken token) {
  HOLDFAST_TRY_LET(const Row row, objects.find(key));
  if (is_stale(token, row)) {
    return Refused{row->newest};
  }
  HOLDFAST_TRY(objects.drop(key, row, token, options.machine.now()));
  return store::Erased{.existed = row && row->stored};
}

class SqliteRepository final : public store::ObjectRepository {
 public:
  explicit SqliteRepository(std::unique_ptr<ObjectTables> tables) noexcept
      : tables_(std::move(tables)) {}

  ~SqliteRepository() override {
    if (!tables_->shared->is_ours()) {
      // Left as it is: to close the connection would undo, in the memory shared with the parent, a
      // transaction that it may be in.
      (void)tables_.release();
    }
  }

  [[nodiscard]] store::RepositoryCapabilities capabilities() const override {
    return {.engine = "sqlite", .durable = true, .atomic_batch = true};
  }

 private:
  Result<LoadOutcome> do_load(const ObjectKey& key, FencingToken token, Deadline deadline) override;
  Result<std::vector<SaveOutcome>> do_save(std::span<const ObjectSave> saves, Batch batch,
                                           Deadline deadline) override;
  Result<store::EraseOutcome> do_erase(const ObjectKey& key, FencingToken token,
                                       Deadline deadline) override;
  Result<store::IdPage> do_list(std::string_view type, std::string_view prefix, std::size_t limit,
                                std::string_view after, Deadline deadline) override;

  std::unique_ptr<ObjectTables> tables_;
};

Result<LoadOutcome> SqliteRepository::do_load(const ObjectKey& key, FencingToken token,
                                              Deadline deadline) {
  HOLDFAST_TRY_LET(const auto session, tables_->shared->enter(deadline));
  HOLDFAST_TRY(tables_->shared->connection().check_in_place());
  // A call that changes nothing does not wait for the write lock.
  std::optional<std::string> data;
  HOLDFAST_TRY_LET(const Row row, tables_->objects.load(key, data));
  if (is_stale(token, row)) {
    return Refused{row->newest};
  }
  if (data && row->newest == token) {
    return store::Loaded{*std::move(data)};
  }
  if (!row && token == FencingToken(0)) {
    return store::Absent{};
  }
  return tables_->change([&] { return tables_->load(key, token); });
}

Result<std::vector<SaveOutcome>> SqliteRepository::do_save(std::span<const ObjectSave> saves,
                                                           Batch batch, Deadline deadline) {
  HOLDFAST_TRY_LET(const auto session, tables_->shared->enter(deadline));
  return tables_->change([&] { return tables_->save(saves, batch); });
}

Result<store::EraseOutcome> SqliteRepository::do_erase(const ObjectKey& key, FencingToken token,
                                                       Deadline deadline) {
  HOLDFAST_TRY_LET(const auto session, tables_->shared->enter(deadline));
  return tables_->change([&] { return tables_->erase(key, token); });
}

Result<store::IdPage> SqliteRepository::do_list(std::string_view type, std::string_view prefix,
                                                std::size_t limit, std::string_view after,
                                                Deadline deadline) {
  HOLDFAST_TRY_LET(const auto session, tables_->shared->enter(deadline));
  HOLDFAST_TRY(tables_->shared->connection().check_in_place());
  return tables_->objects.list(type, prefix, limit, after);
}

}  // namespace

Result<std::shared_ptr<store::ObjectRepository>> open_repository(SqliteOptions options) {
  HOLDFAST_TRY(internal::check_options(options));
  HOLDFAST_TRY_LET(auto tables, ObjectTables::open(std::move(options)));
  return std::make_shared<SqliteRepository>(std::move(tables));
}

}  // namespace holdfast::engines::sqlite
