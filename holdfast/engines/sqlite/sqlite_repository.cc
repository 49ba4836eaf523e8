#include <holdfast/engines/sqlite/sqlite_repository.h>

#include <optional>
#include <string>
#include <utility>

#include <holdfast/base/saturate.h>
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

bool is_overtaken(FencingToken token, const Row& row) { return row && token < row->newest; }

}  // namespace

// The tables of an open file, used by whoever has a session.
class SqliteRepository::Engine {
 public:
  static Result<std::unique_ptr<Engine>> open(SqliteOptions options);

  // Runs `work()`, which changes something, as one step. Tokens that are due go with it.
  template <class Work>
  std::invoke_result_t<Work> change(const Work& work) {
    return shared->transactions().run([&]() -> std::invoke_result_t<Work> {
      if (auto forgotten =
              objects.forget_some(base::add_saturating(options.machine.now(), -options.retention));
          !forgotten) {
        return std::unexpected(std::move(forgotten).error());
      }
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
  Engine(SqliteOptions the_options, std::unique_ptr<internal::SharedConnection> connection,
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

Result<std::unique_ptr<SqliteRepository::Engine>> SqliteRepository::Engine::open(
    SqliteOptions options) {
  Result<Machine> machine = internal::complete(std::move(options.machine));
  if (!machine) {
    return std::unexpected(std::move(machine).error());
  }
  options.machine = *std::move(machine);
  auto shared = internal::SharedConnection::open(options.file, options.busy_timeout);
  if (!shared) {
    return std::unexpected(std::move(shared).error());
  }
  internal::Connection& connection = (*shared)->connection();
  const Result<std::int64_t> epoch =
      internal::Ledger(connection, (*shared)->transactions(), options.machine)
          .enter_epoch(options.machine.boot_id);
  if (!epoch) {
    return std::unexpected(epoch.error());
  }
  if (auto made = internal::make_objects(connection, (*shared)->transactions()); !made) {
    return std::unexpected(std::move(made).error());
  }
  if (auto checked = internal::check_schema(connection, internal::object_columns()); !checked) {
    return std::unexpected(std::move(checked).error());
  }
  std::unique_ptr<Engine> engine(new Engine(std::move(options), *std::move(shared), *epoch));
  // Tables that are not ours are told of now rather than later.
  std::optional<std::string> none;
  if (auto probed = engine->objects.load({}, none); !probed) {
    return std::unexpected(std::move(probed).error());
  }
  return engine;
}

Result<LoadOutcome> SqliteRepository::Engine::load(const ObjectKey& key, FencingToken token) {
  std::optional<std::string> data;
  const Result<Row> row = objects.load(key, data);
  if (!row) {
    return std::unexpected(row.error());
  }
  if (is_overtaken(token, *row)) {
    return Refused{(*row)->newest};
  }
  if (!data) {
    auto kept = objects.drop(key, *row, token, options.machine.now());
    return kept ? Result<LoadOutcome>(store::Absent{}) : std::unexpected(std::move(kept).error());
  }
  if ((*row)->newest != token) {
    if (auto raised = objects.raise(**row, token); !raised) {
      return std::unexpected(std::move(raised).error());
    }
  }
  return store::Loaded{*std::move(data)};
}

Result<std::vector<SaveOutcome>> SqliteRepository::Engine::save(std::span<const ObjectSave> saves,
                                                                Batch batch) {
  std::vector<SaveOutcome> outcomes;
  std::vector<Row> rows;
  outcomes.reserve(saves.size());
  rows.reserve(saves.size());
  bool any_refused = false;
  for (const ObjectSave& save : saves) {
    Result<Row> row = objects.find(save.key);
    if (!row) {
      return std::unexpected(std::move(row).error());
    }
    const bool refused = is_overtaken(save.token, *row);
    outcomes.push_back(refused ? SaveOutcome(Refused{(*row)->newest}) : store::Saved{});
    rows.push_back(*row);
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
    if (auto time = check_time(); !time) {
      return std::unexpected(std::move(time).error());
    }
    if (auto put = objects.put(saves[i], rows[i]); !put) {
      return std::unexpected(std::move(put).error());
    }
  }
  return outcomes;
}

Result<store::EraseOutcome> SqliteRepository::Engine::erase(const ObjectKey& key,
                                                            FencingToken token) {
  const Result<Row> row = objects.find(key);
  if (!row) {
    return std::unexpected(row.error());
  }
  if (is_overtaken(token, *row)) {
    return Refused{(*row)->newest};
  }
  if (auto dropped = objects.drop(key, *row, token, options.machine.now()); !dropped) {
    return std::unexpected(std::move(dropped).error());
  }
  return store::Erased{.existed = *row && (*row)->stored};
}

Result<std::shared_ptr<SqliteRepository>> SqliteRepository::open(SqliteOptions options) {
  if (auto valid = internal::check_options(options); !valid) {
    return std::unexpected(std::move(valid).error());
  }
  Result<std::unique_ptr<Engine>> engine = Engine::open(std::move(options));
  if (!engine) {
    return std::unexpected(std::move(engine).error());
  }
  return std::shared_ptr<SqliteRepository>(new SqliteRepository(*std::move(engine)));
}

SqliteRepository::SqliteRepository(std::unique_ptr<Engine> engine) noexcept
    : engine_(std::move(engine)) {}

SqliteRepository::~SqliteRepository() {
  if (!engine_->shared->is_ours()) {
    // Left as it is: to close the connection would undo, in the memory shared with the parent, a
    // transaction that it may be in.
    (void)engine_.release();
  }
}

store::RepositoryPromises SqliteRepository::promises() const {
  return {.engine = "sqlite", .durable = true, .atomic_batch = true};
}

Result<LoadOutcome> SqliteRepository::do_load(const ObjectKey& key, FencingToken token,
                                              Deadline deadline) {
  const auto session = engine_->shared->enter(deadline);
  if (!session) {
    return std::unexpected(session.error());
  }
  if (auto in_place = engine_->shared->connection().check_in_place(); !in_place) {
    return std::unexpected(std::move(in_place).error());
  }
  // Where nothing is to be changed, nobody has to wait for the write lock.
  std::optional<std::string> data;
  const Result<Row> row = engine_->objects.load(key, data);
  if (!row) {
    return std::unexpected(row.error());
  }
  if (is_overtaken(token, *row)) {
    return Refused{(*row)->newest};
  }
  if (data && (*row)->newest == token) {
    return store::Loaded{*std::move(data)};
  }
  if (!*row && token == FencingToken(0)) {
    return store::Absent{};
  }
  return engine_->change([&] { return engine_->load(key, token); });
}

Result<std::vector<SaveOutcome>> SqliteRepository::do_save(std::span<const ObjectSave> saves,
                                                           Batch batch, Deadline deadline) {
  const auto session = engine_->shared->enter(deadline);
  if (!session) {
    return std::unexpected(session.error());
  }
  return engine_->change([&] { return engine_->save(saves, batch); });
}

Result<store::EraseOutcome> SqliteRepository::do_erase(const ObjectKey& key, FencingToken token,
                                                       Deadline deadline) {
  const auto session = engine_->shared->enter(deadline);
  if (!session) {
    return std::unexpected(session.error());
  }
  return engine_->change([&] { return engine_->erase(key, token); });
}

Result<store::IdPage> SqliteRepository::do_list(std::string_view type, std::string_view prefix,
                                                std::size_t limit, std::string_view after,
                                                Deadline deadline) {
  const auto session = engine_->shared->enter(deadline);
  if (!session) {
    return std::unexpected(session.error());
  }
  if (auto in_place = engine_->shared->connection().check_in_place(); !in_place) {
    return std::unexpected(std::move(in_place).error());
  }
  return engine_->objects.list(type, prefix, limit, after);
}

}  // namespace holdfast::engines::sqlite
