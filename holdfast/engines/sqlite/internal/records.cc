#include <holdfast/engines/sqlite/internal/records.h>

#include <algorithm>
#include <limits>
#include <utility>

#include <holdfast/base/name.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/sqlite/internal/lease_codec.h>
#include <holdfast/engines/sqlite/internal/ledger.h>
#include <holdfast/engines/sqlite/internal/sql.h>

namespace holdfast::engines::sqlite::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using base::TimePoint;
using store::Record;

// The columns of kLoad.
enum Column : int {
  meta_epoch,
  high_water,
  ceiling,
  epoch,
  last_token,
  capacity,
  hits,
  window_ends,
  leases,
  name_of_row,             // of kList
  is_in_use,               // of kList
  has_queue = name_of_row  // of kLoad
};

std::int64_t nanos(TimePoint time) { return time.time_since_epoch().count(); }

bool fits(std::int64_t value, std::int64_t least) {
  return value >= least && value <= std::numeric_limits<std::uint32_t>::max();
}

std::uint64_t token(std::int64_t value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

std::int64_t idle_from(const Record& record, TimePoint leases_end, TimePoint now) {
  TimePoint time = record.hits > 0 ? std::max(now, record.window_ends) : now;
  if (!record.log.empty()) {
    time = std::max(time, record.log.back().ends);
  }
  for (const store::StoredWait& wait : record.waits) {
    time = std::max(time, wait.until);
  }
  return nanos(std::max(time, leases_end));
}

Result<Record> decode(const Statement::Use& row) {
  const std::int64_t minted = row.integer(last_token);
  if (minted < 0 || token(minted) > kMaxToken || !fits(row.integer(capacity), 1) ||
      !fits(row.integer(hits), 0)) {
    return fail(ErrorCode::corrupt, "its numbers are out of range");
  }
  // Not the clock: that may have been set back since. See ledger.h.
  if (token(minted) > token(row.integer(ceiling))) {
    return fail(ErrorCode::corrupt, "its token is greater than any that was minted");
  }
  Record record{.last_token = token(minted),
                .capacity = static_cast<std::uint32_t>(row.integer(capacity)),
                .leases = {},
                .hits = static_cast<std::uint32_t>(row.integer(hits)),
                .window_ends = TimePoint(base::Duration(row.integer(window_ends)))};
  HOLDFAST_TRY(decode_leases(row.bytes(leases), record));
  return record;
}

// The least bytes that come after every name with this prefix.
std::string end_of(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') {
    end.pop_back();
  }
  if (end.empty()) {
    return std::string(base::Name::kMaxSize + 1, '\xff');
  }
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1U);
  return end;
}

// The least bytes that come after these.
std::string successor_of(std::string_view bytes) { return std::string(bytes) + '\0'; }

Result<void> done(const Result<bool>& step) {
  return step ? Result<void>() : std::unexpected(step.error());
}

}  // namespace

Records::Records(Connection& connection, std::int64_t epoch) noexcept
    : connection_(connection),
      epoch_(epoch),
      load_(connection, sql::kLoad),
      save_(connection, sql::kSave),
      forget_(connection, sql::kForget),
      empty_queue_(connection, sql::kEmptyQueue),
      list_(connection, sql::kList),
      rows_(connection) {}

Result<Loaded> Records::load(std::string_view name, const NeededLeases& needed, TimePoint now) {
  return load_with(name, [&](Record& record) { return rows_.read(name, needed, now, record); });
}

Result<Loaded> Records::load_all(std::string_view name) {
  return load_with(name, [&](Record& record) { return rows_.read_all(name, record); });
}

template <class ReadLeases>
Result<Loaded> Records::load_with(std::string_view name, ReadLeases read_leases) {
  Statement::Use use(load_);
  use.bind(1, name);
  const Result<bool> row = use.step();
  if (!row) [[unlikely]] {
    return std::unexpected(row.error());
  }
  if (!*row) [[unlikely]] {
    return fail(ErrorCode::corrupt, "the file " + base::printable(connection_.file()) +
                                        " is damaged, its row of meta is missing");
  }
  Result<Loaded> loaded = read(use, name);
  if (!loaded) [[unlikely]] {
    return loaded;
  }
  loaded->has_queue = use.integer(has_queue) != 0;
  // The statement is still open, so the leases are those of the same moment.
  if (loaded->has_rows) {
    if (auto done = read_leases(loaded->record); !done) [[unlikely]] {
      return std::unexpected(named(std::move(done).error(), name));
    }
  }
  return loaded;
}

base::Error Records::named(base::Error error, std::string_view name) const {
  if (error.code == ErrorCode::corrupt) {
    error.message = "the record of " + base::printable(name) + " in the file " +
                    base::printable(connection_.file()) + " is not Holdfast's, " + error.message +
                    "; it is left as it is: use another name";
  }
  return error;
}

Result<Loaded> Records::read(const Statement::Use& row, std::string_view name) const {
  if (row.integer(meta_epoch) != epoch_) [[unlikely]] {
    return fail(
        ErrorCode::conflict,
        "the file " + base::printable(connection_.file()) +
            " is in use on another machine, or in another boot: share it on one machine only");
  }
  Loaded loaded{.record = {},
                .high_water = token(row.integer(high_water)),
                .ceiling = token(row.integer(ceiling))};
  if (row.is_null(epoch)) {
    return loaded;
  }
  Result<Record> record = decode(row);
  if (!record) [[unlikely]] {
    return std::unexpected(named(std::move(record).error(), name));
  }
  if (row.integer(epoch) == epoch_) {
    loaded.has_rows = record->leases.rest().permits > 0;
    loaded.record = *std::move(record);
  } else {
    loaded.record.last_token = record->last_token;
  }
  return loaded;
}

Result<void> Records::save(std::string_view name, const Loaded& before, const Record& after,
                           TimePoint now) {
  TimePoint leases_end = after.leases.last_expiry();
  if (after.capacity > 1) {
    HOLDFAST_TRY(
        rows_.write(name, before.has_rows ? before.record.leases : store::Leases(), after.leases));
    HOLDFAST_TRY_LET(leases_end, rows_.last_expiry(name));
    encode_without_leases(after, encoded_);
  } else {
    if (before.has_rows) {
      HOLDFAST_TRY(rows_.drop(name));
    }
    encode_leases(after, encoded_);
  }
  Statement::Use use(save_);
  use.bind(1, name);
  use.bind(2, epoch_);
  use.bind(3, static_cast<std::int64_t>(after.last_token));
  use.bind(4, std::int64_t{after.capacity});
  use.bind(5, std::int64_t{after.hits});
  use.bind(6, nanos(after.window_ends));
  use.bind(7, idle_from(after, leases_end, now));
  use.bind(8, encoded_);
  return done(use.step());
}

Result<void> Records::forget(std::string_view name) {
  {
    Statement::Use use(forget_);
    use.bind(1, name);
    if (auto forgotten = done(use.step()); !forgotten) {
      return forgotten;
    }
  }
  HOLDFAST_TRY(rows_.drop(name));    // what has ended
  Statement::Use use(empty_queue_);  // what dead waiters have left
  use.bind(1, name);
  return done(use.step());
}

Result<std::optional<std::string>> Records::list(std::string_view prefix, std::string_view after,
                                                 TimePoint now, const Visit& visit) {
  const std::string first = std::max(std::string(prefix), successor_of(after));
  const std::string end = end_of(prefix);
  Statement::Use use(list_);
  use.bind(1, first);
  use.bind(2, end);
  use.bind(3, nanos(now));
  for (std::size_t visited = 1;; ++visited) {
    HOLDFAST_TRY_LET(const bool row, use.step());
    if (!row) {
      return std::nullopt;
    }
    const std::string_view name = use.bytes(name_of_row);
    if (use.integer(is_in_use) != 0) {
      HOLDFAST_TRY_LET(Loaded loaded, read(use, name));
      if (loaded.has_rows) {
        if (auto leases = rows_.read_all(name, loaded.record); !leases) {
          return std::unexpected(named(std::move(leases).error(), name));
        }
      }
      if (visit(name, loaded.record) == Next::stop) {
        return std::nullopt;
      }
    }
    if (visited == kMostVisited) {
      return std::string(name);
    }
  }
}

}  // namespace holdfast::engines::sqlite::internal
