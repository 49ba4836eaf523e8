#include <holdfast/store/lease_store.h>

#include <string>

namespace holdfast::store {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::Name;
using base::Result;

constexpr std::size_t kMaxPage = 1000;

Result<void> check_ttl(base::Ttl ttl) {
  if (!ttl.valid()) [[unlikely]] {
    return std::unexpected(ttl.error());
  }
  if (ttl.unchecked() < LeaseStore::kMinTtl || ttl.unchecked() > LeaseStore::kMaxTtl) [[unlikely]] {
    return fail(ErrorCode::invalid_argument, "the ttl is not between 100 ms and 365 days");
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

}  // namespace

Result<ClaimOutcome> LeaseStore::claim(std::string_view name, const Claim& claim,
                                       Deadline deadline) {
  if (auto valid = check_claim(claim); !valid) [[unlikely]] {
    return std::unexpected(std::move(valid).error());
  }
  const Result<Name> checked = Name::make(name);
  if (!checked) [[unlikely]] {
    return std::unexpected(checked.error());
  }
  return do_claim(*checked, claim, deadline);
}

Result<std::vector<RenewOutcome>> LeaseStore::renew(std::span<const Renewal> renewals,
                                                    Deadline deadline) {
  if (renewals.size() > LeaseStore::kMaxBatch) {
    return fail(ErrorCode::limit_exceeded, "more than 100,000 renewals in one batch");
  }
  for (const Renewal& renewal : renewals) {
    if (auto valid = check_ttl(renewal.ttl); !valid) {
      return std::unexpected(std::move(valid).error());
    }
    if (auto checked = Name::make(renewal.name); !checked) {
      return std::unexpected(std::move(checked).error());
    }
  }
  return do_renew(renewals, deadline);
}

Result<TransferOutcome> LeaseStore::transfer(std::string_view name, const base::LeaseId& from,
                                             const Claim& to, Deadline deadline) {
  if (auto valid = check_claim(to); !valid) {
    return std::unexpected(std::move(valid).error());
  }
  const Result<Name> checked = Name::make(name);
  if (!checked) {
    return std::unexpected(checked.error());
  }
  return do_transfer(*checked, from, to, deadline);
}

Result<ReleaseOutcome> LeaseStore::release(std::string_view name, const base::LeaseId& id,
                                           Deadline deadline) {
  const Result<Name> checked = Name::make(name);
  if (!checked) [[unlikely]] {
    return std::unexpected(checked.error());
  }
  return do_release(*checked, id, deadline);
}

Result<std::optional<NameState>> LeaseStore::look(std::string_view name, Deadline deadline) {
  const Result<Name> checked = Name::make(name);
  if (!checked) {
    return std::unexpected(checked.error());
  }
  return do_look(*checked, deadline);
}

Result<Page> LeaseStore::list(std::string_view prefix, const PageRequest& page, Deadline deadline) {
  if (prefix.size() > Name::kMaxSize) {
    return fail(ErrorCode::invalid_argument, "the prefix is longer than any name");
  }
  if (page.limit == 0 || page.limit > kMaxPage) {
    return fail(ErrorCode::invalid_argument, "the limit of a page is not between 1 and 1,000");
  }
  return do_list(prefix, page, deadline);
}

Result<HitOutcome> LeaseStore::hit(std::string_view name, const Hit& hit, Deadline deadline) {
  if (hit.limit == 0) {
    return fail(ErrorCode::invalid_argument, "the limit is zero: it would refuse every hit");
  }
  if (hit.count > hit.limit) {
    return fail(ErrorCode::invalid_argument,
                "more hits at once than the limit: they would never be allowed");
  }
  if (auto valid = check_ttl(hit.period); !valid) {
    return std::unexpected(std::move(valid).error());
  }
  const Result<Name> checked = Name::make(name);
  if (!checked) {
    return std::unexpected(checked.error());
  }
  return do_hit(*checked, hit, deadline);
}

Result<Watch> LeaseStore::watch(std::string_view name, std::function<void()> callback) {
  if (!callback) {
    return fail(ErrorCode::invalid_argument, "the callback is empty");
  }
  const Result<Name> checked = Name::make(name);
  if (!checked) {
    return std::unexpected(checked.error());
  }
  return do_watch(*checked, std::move(callback));
}

}  // namespace holdfast::store
