#include <holdfast/store/lease_store.h>

#include <holdfast/base/try.h>
#include <holdfast/store/internal/checks.h>
#include <holdfast/store/waiting_name.h>

namespace holdfast::store {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::Name;
using base::Result;

constexpr std::size_t kMaxPage = 1000;

}  // namespace

Result<ClaimOutcome> LeaseStore::claim(std::string_view name, const Claim& claim,
                                       Deadline deadline) {
  if (auto valid = internal::check_claim(claim); !valid) [[unlikely]] {
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
    HOLDFAST_TRY(internal::check_ttl(renewal.ttl));
    HOLDFAST_TRY(Name::make(renewal.name));
  }
  return do_renew(renewals, deadline);
}

Result<TransferOutcome> LeaseStore::transfer(std::string_view name, const base::LeaseId& from,
                                             const Claim& to, Deadline deadline) {
  HOLDFAST_TRY(internal::check_claim(to));
  HOLDFAST_TRY_LET(const Name checked, Name::make(name));
  return do_transfer(checked, from, to, deadline);
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
  HOLDFAST_TRY_LET(const Name checked, Name::make(name));
  return do_look(checked, deadline);
}

Result<Page> LeaseStore::list(std::string_view prefix, const PageRequest& page, Deadline deadline) {
  if (prefix.size() > Name::kMaxSize) {
    return fail(ErrorCode::invalid_argument, "the prefix is longer than any name");
  }
  if (page.limit == 0 || page.limit > kMaxPage) {
    return fail(ErrorCode::invalid_argument, "the limit of a page is not between 1 and 1,000");
  }
  Result<Page> found = do_list(prefix, page, deadline);
  if (found && !is_waiting_name(prefix)) {
    std::erase_if(found->names,
                  [](const NameState& state) { return is_waiting_name(state.name.view()); });
  }
  return found;
}

Result<HitOutcome> LeaseStore::hit(std::string_view name, const Hit& hit, Deadline deadline) {
  HOLDFAST_TRY(internal::check_hit(hit));
  HOLDFAST_TRY_LET(const Name checked, Name::make(name));
  return do_hit(checked, hit, deadline);
}

Result<Watch> LeaseStore::watch(std::string_view name, WatchCallback callback) {
  if (!callback) {
    return fail(ErrorCode::invalid_argument, "the callback is empty");
  }
  HOLDFAST_TRY_LET(const Name checked, Name::make(name));
  return do_watch(checked, std::move(callback));
}

}  // namespace holdfast::store
