#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <holdfast/base/error.h>
#include <holdfast/base/name.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/hit.h>
#include <holdfast/store/outcome.h>
#include <holdfast/store/record.h>

// The one definition of what each operation of a LeaseStore does to a record: no I/O, no threads,
// no clock. memory and sqlite run these under their own lock or transaction; an engine whose server
// does the work restates them there, and a test replays random histories against both.
//
// Each changes the record it is given and nothing else, and not even that where it returns an
// error. Arguments are valid already (LeaseStore sees to that).
namespace holdfast::store::lease_rules {

[[nodiscard]] base::Result<ClaimOutcome> claim(Record& record, const Claim& claim,
                                               const Instant& now);
[[nodiscard]] RenewOutcome renew(Record& record, const base::LeaseId& id, base::Duration ttl,
                                 const Instant& now);
[[nodiscard]] base::Result<TransferOutcome> transfer(Record& record, const base::LeaseId& from,
                                                     const Claim& to, const Instant& now);
[[nodiscard]] ReleaseOutcome release(Record& record, const base::LeaseId& id, const Instant& now);
[[nodiscard]] base::Result<HitOutcome> hit(Record& record, const Hit& hit, const Instant& now);

// The number of live leases that claim() looks at to refuse `wanted` permits: of those that end
// first, and of those that end last. A store that reads no others answers the same.
struct Looked {
  std::size_t first = 0;
  std::size_t last = 0;
};
[[nodiscard]] Looked looked_at_to_refuse(std::uint64_t used, const Permits& wanted) noexcept;

// The live leases, or nothing if there are none.
[[nodiscard]] std::optional<NameState> look(const base::Name& name, const Record& record,
                                            const Instant& now);

[[nodiscard]] bool is_tombstone(const Record& record, const Instant& now) noexcept;

// The permits of a name that are held, and its claims that hold others back. An operation that
// leaves less of either may have made room: the watchers of the name are notified.
struct Load {
  std::uint64_t permits = 0;
  std::size_t waits = 0;
};
[[nodiscard]] Load load_of(const Record& record) noexcept;
[[nodiscard]] constexpr bool is_eased(const Load& before, const Load& after) noexcept {
  return after.permits < before.permits || after.waits < before.waits;
}

}  // namespace holdfast::store::lease_rules
