#include <holdfast/engines/sqlite/internal/lease_rows.h>

#include <limits>
#include <string>
#include <utility>

#include <holdfast/base/try.h>
#include <holdfast/engines/sqlite/internal/lease_codec.h>
#include <holdfast/engines/sqlite/internal/sql.h>
#include <holdfast/store/lease_rules.h>

namespace holdfast::engines::sqlite::internal {

namespace {

using base::LeaseId;
using base::Result;
using base::TimePoint;
using store::Leases;
using store::Record;
using store::StoredLease;

// The columns of kFindLease.
enum Column : int { id, token, granted, expires, permits, owner, reason };

std::int64_t nanos(TimePoint time) { return time.time_since_epoch().count(); }
TimePoint time_of(std::int64_t nanos) { return TimePoint(base::Duration(nanos)); }

std::unexpected<base::Error> corrupt() {
  return base::fail(base::ErrorCode::corrupt, "its leases cannot be read");
}

Result<StoredLease> decode(const Statement::Use& row, const Record& record) {
  const Result<LeaseId> parsed = LeaseId::parse(row.bytes(id));
  const std::int64_t count = row.integer(permits);
  if (!parsed || count < 1 || count > std::numeric_limits<std::uint32_t>::max()) {
    return corrupt();
  }
  StoredLease lease{.id = *parsed,
                    .owner = std::string(row.bytes(owner)),
                    .reason = std::string(row.bytes(reason)),
                    .permits = static_cast<std::uint32_t>(count),
                    .token = base::FencingToken(static_cast<std::uint64_t>(row.integer(token))),
                    .granted = time_of(row.integer(granted)),
                    .expires = time_of(row.integer(expires))};
  return is_sound(lease, record) ? Result<StoredLease>(std::move(lease)) : corrupt();
}

std::uint64_t live_permits(const Leases& leases, TimePoint now) {
  std::uint64_t live = leases.used();
  for (const StoredLease& lease : leases) {
    live -= lease.expires <= now ? lease.permits : 0;
  }
  return live;
}

}  // namespace

LeaseRows::LeaseRows(Connection& connection) noexcept
    : find_(connection, sql::kFindLease),
      all_(connection, sql::kAllLeases),
      ended_(connection, sql::kEndedLeases),
      first_to_end_(connection, sql::kFirstToEnd),
      last_to_end_(connection, sql::kLastToEnd),
      last_expiry_(connection, sql::kLastExpiry),
      put_(connection, sql::kPutLease),
      drop_(connection, sql::kDropLease),
      drop_all_(connection, sql::kDropLeases) {}

Result<void> LeaseRows::read(std::string_view name, const NeededLeases& needed, TimePoint now,
                             Record& record) {
  HOLDFAST_TRY_LET(const TimePoint last, last_expiry(name));
  record.leases.set_rest({.permits = record.leases.rest().permits, .last_expiry = last});
  for (const LeaseId& each : needed.ids) {
    const std::string text = to_string(each);
    Statement::Use use(find_);
    use.bind(1, name);
    use.bind_text(2, text);
    HOLDFAST_TRY(read_rows(use, record));
  }
  if (needed.ended == NeededLeases::Ended::needed) {
    Statement::Use use(ended_);
    use.bind(1, name);
    use.bind(2, nanos(now));
    HOLDFAST_TRY(read_rows(use, record));
    if (record.leases.rest().permits > 0 && last <= now) {
      return corrupt();
    }
  }
  const std::uint64_t used = live_permits(record.leases, now);
  const bool may_be_refused =
      needed.wanted.count > 0 && record.capacity == needed.wanted.capacity &&
      (used + needed.wanted.count > record.capacity || !record.waits.empty());
  if (may_be_refused) {
    const auto looked = store::lease_rules::looked_at_to_refuse(used, needed.wanted);
    HOLDFAST_TRY(read_some(first_to_end_, name, now, looked.first, record));
    HOLDFAST_TRY(read_some(last_to_end_, name, now, looked.last, record));
  }
  return {};
}

Result<void> LeaseRows::read_some(Statement& statement, std::string_view name, TimePoint now,
                                  std::size_t most, Record& record) {
  Statement::Use use(statement);
  use.bind(1, name);
  use.bind(2, nanos(now));
  use.bind(3, static_cast<std::int64_t>(most));
  return read_rows(use, record);
}

Result<void> LeaseRows::read_all(std::string_view name, Record& record) {
  Statement::Use use(all_);
  use.bind(1, name);
  HOLDFAST_TRY(read_rows(use, record));
  return record.leases.rest().permits == 0 ? Result<void>() : corrupt();
}

Result<void> LeaseRows::read_rows(Statement::Use& use, Record& record) {
  for (;;) {
    HOLDFAST_TRY_LET(const bool row, use.step());
    if (!row) {
      return {};
    }
    HOLDFAST_TRY_LET(StoredLease lease, decode(use, record));
    if (record.leases.find(lease.id) != nullptr) {
      continue;
    }
    Leases::Rest rest = record.leases.rest();
    if (rest.permits < lease.permits) {
      return corrupt();
    }
    rest.permits -= lease.permits;
    record.leases.set_rest(rest.permits > 0 ? rest : Leases::Rest{});
    record.leases.insert(std::move(lease));
  }
}

Result<void> LeaseRows::write(std::string_view name, const Leases& before, const Leases& after) {
  for (const StoredLease& lease : before) {
    if (after.find(lease.id) == nullptr) {
      HOLDFAST_TRY(drop(name, lease.id));
    }
  }
  for (const StoredLease& lease : after) {
    const StoredLease* const old = before.find(lease.id);
    if (old == nullptr || *old != lease) {
      HOLDFAST_TRY(put(name, lease));
    }
  }
  return {};
}

Result<void> LeaseRows::put(std::string_view name, const StoredLease& lease) {
  const std::string text = to_string(lease.id);
  Statement::Use use(put_);
  use.bind(1, name);
  use.bind_text(2, text);
  use.bind(3, static_cast<std::int64_t>(lease.token.value()));
  use.bind(4, nanos(lease.granted));
  use.bind(5, nanos(lease.expires));
  use.bind(6, std::int64_t{lease.permits});
  use.bind(7, lease.owner);
  use.bind(8, lease.reason);
  HOLDFAST_TRY(use.step());
  return {};
}

Result<void> LeaseRows::drop(std::string_view name, const LeaseId& id) {
  const std::string text = to_string(id);
  Statement::Use use(drop_);
  use.bind(1, name);
  use.bind_text(2, text);
  HOLDFAST_TRY(use.step());
  return {};
}

Result<void> LeaseRows::drop(std::string_view name) {
  Statement::Use use(drop_all_);
  use.bind(1, name);
  HOLDFAST_TRY(use.step());
  return {};
}

Result<TimePoint> LeaseRows::last_expiry(std::string_view name) {
  Statement::Use use(last_expiry_);
  use.bind(1, name);
  HOLDFAST_TRY_LET(const bool row, use.step());
  return row ? time_of(use.integer(0)) : TimePoint::min();
}

}  // namespace holdfast::engines::sqlite::internal
