#include <holdfast/store/internal/checks.h>

#include <string>

#include <holdfast/store/forget_hits.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::store::internal {

using base::ErrorCode;
using base::fail;
using base::Result;

Result<void> check_ttl(base::Ttl ttl) {
  if (!ttl.valid()) [[unlikely]] {
    return std::unexpected(ttl.error());
  }
  if (ttl.unchecked() < LeaseStore::kMinTtl || ttl.unchecked() > LeaseStore::kMaxTtl) [[unlikely]] {
    return fail(ErrorCode::invalid_argument,
                "the ttl is not between 100 ms and 365 days: a lock is renewed while it is held, "
                "so a ttl of "
                "seconds or minutes is enough");
  }
  return {};
}

Result<void> check_claim(const Claim& claim) {
  if (claim.id.is_nil()) [[unlikely]] {
    return fail(ErrorCode::invalid_argument, "the lease id is nil: use LeaseId::generate()");
  }
  if (claim.owner.empty() || claim.owner.size() > Claim::kMaxOwner) [[unlikely]] {
    return fail(ErrorCode::invalid_argument, "the owner is not between 1 and 256 bytes long");
  }
  if (claim.reason.size() > Claim::kMaxReason) [[unlikely]] {
    return fail(ErrorCode::invalid_argument, "the reason is longer than 1,024 bytes");
  }
  if (!claim.permits.valid()) [[unlikely]] {
    return fail(ErrorCode::invalid_argument, "the permits are not between 1 and the capacity: " +
                                                 std::to_string(claim.permits.count) + " of " +
                                                 std::to_string(claim.permits.capacity));
  }
  if (claim.holds_back < base::Duration::zero() || claim.holds_back > LeaseStore::kMaxTtl)
      [[unlikely]] {
    return fail(ErrorCode::invalid_argument, "holds_back is not between zero and 365 days");
  }
  return check_ttl(claim.ttl);
}

Result<void> check_hit(const Hit& hit) {
  if (hit.limit == 0 && !forgets(hit)) {
    return fail(ErrorCode::invalid_argument, "the limit is zero: it would refuse every hit");
  }
  if (hit.count > hit.limit) {
    return fail(ErrorCode::invalid_argument,
                "more hits at once than the limit: they would never be allowed");
  }
  return check_ttl(hit.period);
}

}  // namespace holdfast::store::internal
