#include <holdfast/engines/sqlite/internal/queue.h>

#include <bit>

#include <holdfast/base/saturate.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/sqlite/internal/sql.h>

namespace holdfast::engines::sqlite::internal {

namespace {

using base::LeaseId;
using base::Result;
using base::TimePoint;

// The columns of kMembers.
enum Column : int { place, id_high, id_low, owner, reason, address, until };

std::int64_t signed_of(std::uint64_t value) { return std::bit_cast<std::int64_t>(value); }
std::uint64_t unsigned_of(std::int64_t value) { return std::bit_cast<std::uint64_t>(value); }

base::Duration forgotten_after(WakeBoard::Address address) {
  return address == WakeBoard::kNoAddress ? Queue::kForgottenWithoutAddress
                                          : Queue::kForgottenAfter;
}

std::int64_t until_of(WakeBoard::Address address, TimePoint now) {
  return base::add_saturating(now, forgotten_after(address)).time_since_epoch().count();
}

Result<void> done(const Result<bool>& step) {
  return step ? Result<void>() : std::unexpected(step.error());
}

Queue::Member read(const Statement::Use& row) {
  return {.id = LeaseId(unsigned_of(row.integer(id_high)), unsigned_of(row.integer(id_low))),
          .owner = std::string(row.bytes(owner)),
          .reason = std::string(row.bytes(reason)),
          .address = static_cast<WakeBoard::Address>(row.integer(address))};
}

// Returns whether this library may have written it.
bool is_sound(const Queue::Member& member) {
  return !member.id.is_nil() && !member.owner.empty() &&
         member.owner.size() <= store::Claim::kMaxOwner &&
         member.reason.size() <= store::Claim::kMaxReason;
}

}  // namespace

Result<void> make_queue(Connection& connection, Transactions& transactions) {
  {
    Statement statement(connection, sql::kHasQueue);
    Statement::Use use(statement);
    const Result<bool> row = use.step();
    if (!row || use.integer(0) > 0) {
      return done(row);
    }
  }
  return transactions.run([&] { return connection.run(sql::kQueue); });
}

Queue::Queue(Connection& connection) noexcept
    : members_(connection, sql::kMembers),
      remove_(connection, sql::kRemoveMembers),
      ahead_(connection, sql::kAhead),
      join_(connection, sql::kJoin),
      find_(connection, sql::kFindMember),
      keep_(connection, sql::kKeepMember),
      leave_(connection, sql::kLeave) {}

Result<std::optional<Queue::Member>> Queue::pop(std::string_view name, TimePoint now,
                                                const IsAlive& is_alive) {
  std::optional<Member> first;
  std::optional<Place> last;
  {
    Statement::Use use(members_);
    use.bind(1, name);
    use.bind(2, kMostRemoved);
    for (;;) {
      HOLDFAST_TRY_LET(const bool row, use.step());
      if (!row) {
        break;
      }
      last = use.integer(place);
      Member member = read(use);
      if (use.integer(until) > now.time_since_epoch().count() && is_sound(member) &&
          is_alive(member.address)) {
        first = std::move(member);
        break;
      }
    }
  }
  if (last) {
    Statement::Use use(remove_);
    use.bind(1, name);
    use.bind(2, *last);
    if (const Result<bool> removed = use.step(); !removed) {
      return std::unexpected(removed.error());
    }
  }
  return first;
}

Result<std::uint32_t> Queue::ahead_of(std::string_view name, Place at, std::uint32_t most,
                                      TimePoint now, const IsAlive& is_alive) {
  Statement::Use use(ahead_);
  use.bind(1, name);
  use.bind(2, at);
  use.bind(3, now.time_since_epoch().count());
  use.bind(4, std::int64_t{most});
  for (std::uint32_t live = 0;;) {
    HOLDFAST_TRY_LET(const bool row, use.step());
    if (!row) {
      return live;
    }
    live += is_alive(static_cast<WakeBoard::Address>(use.integer(0))) ? 1U : 0U;
  }
}

Result<Queue::Place> Queue::join(std::string_view name, const store::Claim& claim,
                                 WakeBoard::Address sleeps_at, TimePoint now) {
  Statement::Use use(join_);
  use.bind(1, name);
  use.bind(2, signed_of(claim.id.high()));
  use.bind(3, signed_of(claim.id.low()));
  use.bind(4, claim.owner);
  use.bind(5, claim.reason);
  use.bind(6, std::int64_t{sleeps_at});
  use.bind(7, until_of(sleeps_at, now));
  HOLDFAST_TRY(use.step());
  const Place joined = use.integer(0);
  HOLDFAST_TRY(use.step());  // the row is there when the statement has ended
  return joined;
}

Result<bool> Queue::keep(std::string_view name, Place at, const LeaseId& id,
                         WakeBoard::Address sleeps_at, TimePoint now) {
  {
    Statement::Use use(find_);
    use.bind(1, name);
    use.bind(2, at);
    use.bind(3, signed_of(id.high()));
    use.bind(4, signed_of(id.low()));
    const Result<bool> row = use.step();
    if (!row || !*row) {
      return row;
    }
    // Not at every poll: that a claim waits is a read then, and nothing is written.
    const TimePoint half_way = base::add_saturating(now, forgotten_after(sleeps_at) / 2);
    if (use.integer(0) > half_way.time_since_epoch().count()) {
      return true;
    }
  }
  Statement::Use use(keep_);
  use.bind(1, name);
  use.bind(2, at);
  use.bind(3, until_of(sleeps_at, now));
  const Result<bool> kept = use.step();
  return kept ? Result<bool>(true) : std::unexpected(kept.error());
}

Result<void> Queue::leave(std::string_view name, Place at, const LeaseId& id) {
  Statement::Use use(leave_);
  use.bind(1, name);
  use.bind(2, at);
  use.bind(3, signed_of(id.high()));
  use.bind(4, signed_of(id.low()));
  return done(use.step());
}

}  // namespace holdfast::engines::sqlite::internal
