#include <holdfast/engines/sqlite/internal/objects.h>

#include <algorithm>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/sqlite/internal/sql.h>

namespace holdfast::engines::sqlite::internal {

namespace {

using base::FencingToken;
using base::Result;

// Two for each that an operation may add, so they get fewer when all are due.
constexpr std::int64_t kForgottenAtOnce = 2;

enum Column : int { number_of_row = 0, newest_token = 1, is_stored = 2, stored_data = 3 };

Result<void> done(const Result<bool>& step) {
  return step ? Result<void>() : std::unexpected(step.error());
}

// The bits: SQLite has no unsigned numbers, and nothing in a statement compares tokens.
std::int64_t bits(FencingToken token) { return static_cast<std::int64_t>(token.value()); }

Result<std::optional<Objects::Row>> read(Statement::Use& use, const store::ObjectKey& key) {
  use.bind(1, key.type);
  use.bind(2, key.id);
  HOLDFAST_TRY_LET(const bool row, use.step());
  if (!row) {
    return std::nullopt;
  }
  return Objects::Row{.number = use.integer(number_of_row),
                      .newest = FencingToken(static_cast<std::uint64_t>(use.integer(newest_token))),
                      .stored = use.integer(is_stored) != 0};
}

Result<bool> has_objects(Connection& connection) {
  constexpr std::int64_t kTablesAndIndexes = 3;
  Statement statement(connection, sql::kHasObjects);
  Statement::Use use(statement);
  const Result<bool> row = use.step();
  return row ? Result<bool>(use.integer(0) == kTablesAndIndexes) : row;
}

}  // namespace

Result<void> make_objects(Connection& connection, Transactions& transactions) {
  HOLDFAST_TRY_LET(const bool there, has_objects(connection));
  if (there) {
    return {};
  }
  Result<void> made = transactions.run([&] { return connection.run(sql::kObjects); });
  if (!made && made.error().code == base::ErrorCode::internal) {
    made.error().code = base::ErrorCode::corrupt;  // a table of that name that is not ours
  }
  return made;
}

Objects::Objects(Connection& connection, std::int64_t epoch) noexcept
    : connection_(connection),
      epoch_(epoch),
      find_(connection, sql::kFindObject),
      load_(connection, sql::kLoadObject),
      add_(connection, sql::kAddObject),
      change_(connection, sql::kChangeObject),
      put_data_(connection, sql::kPutData),
      drop_data_(connection, sql::kDropData),
      drop_object_(connection, sql::kDropObject),
      forget_(connection, sql::kForgetObjects),
      list_(connection, sql::kListObjects) {}

Result<std::optional<Objects::Row>> Objects::find(const store::ObjectKey& key) {
  Statement::Use use(find_);
  return read(use, key);
}

Result<std::optional<Objects::Row>> Objects::load(const store::ObjectKey& key,
                                                  std::optional<std::string>& data) {
  Statement::Use use(load_);
  Result<std::optional<Row>> row = read(use, key);
  if (row && *row && (*row)->stored) {
    if (use.is_null(stored_data)) {
      return base::fail(base::ErrorCode::corrupt,
                        "the file " + base::printable(connection_.file()) +
                            " is damaged, the data of the object " + base::printable(key.id) +
                            " are missing: erase it, or save it anew");
    }
    data = use.bytes(stored_data);
  }
  return row;
}

Result<std::int64_t> Objects::add(const store::ObjectKey& key, FencingToken token, bool stored,
                                  std::int64_t used) {
  Statement::Use use(add_);
  use.bind(1, key.type);
  use.bind(2, key.id);
  use.bind(3, bits(token));
  use.bind(4, std::int64_t{stored});
  use.bind(5, epoch_);
  use.bind(6, used);
  HOLDFAST_TRY(use.step());
  const std::int64_t number = use.integer(0);
  HOLDFAST_TRY(use.step());
  return number;
}

Result<void> Objects::change(std::int64_t number, FencingToken token, bool stored,
                             std::int64_t used) {
  Statement::Use use(change_);
  use.bind(1, number);
  use.bind(2, bits(token));
  use.bind(3, std::int64_t{stored});
  use.bind(4, epoch_);
  use.bind(5, used);
  return done(use.step());
}

Result<void> Objects::put(const store::ObjectSave& save, const std::optional<Row>& row) {
  std::int64_t number = row ? row->number : 0;
  if (!row) {
    HOLDFAST_TRY_LET(const std::int64_t added, add(save.key, save.token, true, 0));
    number = added;
  } else if (!row->stored || row->newest != save.token) {
    if (auto changed = change(number, save.token, true, 0); !changed) {
      return changed;
    }
  }
  Statement::Use use(put_data_);
  use.bind(1, number);
  use.bind(2, save.data);
  return done(use.step());
}

Result<void> Objects::raise(const Row& row, FencingToken token) {
  return change(row.number, token, row.stored, 0);
}

Result<void> Objects::drop(const store::ObjectKey& key, const std::optional<Row>& row,
                           FencingToken token, base::TimePoint now) {
  const std::int64_t used = now.time_since_epoch().count();
  if (!row) {
    if (token == FencingToken(0)) {
      return {};
    }
    const Result<std::int64_t> added = add(key, token, false, used);
    return added ? Result<void>() : std::unexpected(added.error());
  }
  if (row->stored) {
    Statement::Use use(drop_data_);
    use.bind(1, row->number);
    if (auto dropped = done(use.step()); !dropped) {
      return dropped;
    }
  }
  if (token != FencingToken(0)) {
    return change(row->number, token, false, used);
  }
  Statement::Use use(drop_object_);
  use.bind(1, row->number);
  return done(use.step());
}

Result<void> Objects::forget_some(base::TimePoint unused_since) {
  Statement::Use use(forget_);
  use.bind(1, epoch_);
  use.bind(2, unused_since.time_since_epoch().count());
  use.bind(3, kForgottenAtOnce);
  return done(use.step());
}

Result<store::IdPage> Objects::list(std::string_view type, std::string_view prefix,
                                    std::size_t limit, std::string_view after) {
  store::IdPage page;
  Statement::Use use(list_);
  use.bind(1, type);
  use.bind(2, std::max(prefix, after));
  use.bind(3, after);
  for (;;) {
    HOLDFAST_TRY_LET(const bool row, use.step());
    if (!row || !use.bytes(0).starts_with(prefix)) {
      return page;
    }
    if (page.ids.size() == limit) {  // one more: there is a next page
      page.next = page.ids.back();
      return page;
    }
    page.ids.emplace_back(use.bytes(0));
  }
}

}  // namespace holdfast::engines::sqlite::internal
