#include <holdfast/recipes/internal/guarded_store.h>

#include <algorithm>
#include <utility>

namespace holdfast::recipes::internal {

using base::Deadline;
using base::ErrorCode;
using base::LeaseId;
using base::Name;
using base::Result;

namespace {

bool is_outage(ErrorCode code) noexcept {
  return code == ErrorCode::unavailable || code == ErrorCode::unknown_outcome;
}

// Returns whether the store itself was not asked: a full queue or a forked process ends a call so.
bool is_nothing(ErrorCode code) noexcept {
  return code == ErrorCode::limit_exceeded || code == ErrorCode::unsupported;
}

}  // namespace

GuardedStore::GuardedStore(std::shared_ptr<store::LeaseStore> real,
                           std::shared_ptr<Circuit> circuit, base::Duration answer_within)
    : real_(std::move(real)), circuit_(std::move(circuit)), answer_within_(answer_within) {}

store::Capabilities GuardedStore::capabilities() const { return real_->capabilities(); }

template <class Call>
auto GuardedStore::observed(Call&& call) -> decltype(call()) {
  try {
    auto outcome = call();
    if (!outcome && is_outage(outcome.error().code)) {
      circuit_->on_failure(outcome.error());
    } else if (!outcome && is_nothing(outcome.error().code)) {
      circuit_->on_nothing();
    } else {
      circuit_->on_answer();
    }
    return outcome;
  } catch (...) {
    circuit_->on_nothing();
    throw;
  }
}

template <class Call>
auto GuardedStore::guarded(Deadline deadline, Call&& call) -> decltype(call(deadline)) {
  if (!circuit_->admit()) {
    return base::fail(ErrorCode::unavailable,
                      "the store failed and is not asked again before a pause is over");
  }
  const Deadline sooner = std::min(deadline, Deadline::after(base::steady_clock(), answer_within_));
  return observed([&] { return call(sooner); });
}

Result<store::ClaimOutcome> GuardedStore::do_claim(const Name& name, const store::Claim& claim,
                                                   Deadline deadline) {
  return guarded(deadline, [&](Deadline until) { return real_->claim(name.view(), claim, until); });
}

Result<std::vector<store::RenewOutcome>> GuardedStore::do_renew(
    std::span<const store::Renewal> renewals, Deadline deadline) {
  return observed([&] { return real_->renew(renewals, deadline); });
}

Result<store::TransferOutcome> GuardedStore::do_transfer(const Name& name, const LeaseId& from,
                                                         const store::Claim& to,
                                                         Deadline deadline) {
  return guarded(deadline,
                 [&](Deadline until) { return real_->transfer(name.view(), from, to, until); });
}

Result<store::ReleaseOutcome> GuardedStore::do_release(const Name& name, const LeaseId& id,
                                                       Deadline deadline) {
  return guarded(deadline, [&](Deadline until) { return real_->release(name.view(), id, until); });
}

Result<std::optional<store::NameState>> GuardedStore::do_look(const Name& name, Deadline deadline) {
  return guarded(deadline, [&](Deadline until) { return real_->look(name.view(), until); });
}

Result<store::Page> GuardedStore::do_list(std::string_view prefix, const store::PageRequest& page,
                                          Deadline deadline) {
  return guarded(deadline, [&](Deadline until) { return real_->list(prefix, page, until); });
}

Result<store::HitOutcome> GuardedStore::do_hit(const Name& name, const store::Hit& hit,
                                               Deadline deadline) {
  return guarded(deadline, [&](Deadline until) { return real_->hit(name.view(), hit, until); });
}

Result<store::Watch> GuardedStore::do_watch(const Name& name, store::WatchCallback callback) {
  return real_->watch(name.view(), std::move(callback));
}

}  // namespace holdfast::recipes::internal
