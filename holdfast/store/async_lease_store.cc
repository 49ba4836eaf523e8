#include <holdfast/store/async_lease_store.h>

#include <utility>

#include <holdfast/store/internal/checks.h>

namespace holdfast::store {

namespace {

using base::Deadline;
using base::Name;
using base::Result;

// Starts the request for a name that can be one, if what it asks for can be.
template <class Callback, class Start>
void start_if(const Result<void>& valid, std::string_view name, Callback callback,
              const Start& start) {
  if (!valid) {
    callback(std::unexpected(valid.error()));
    return;
  }
  const Result<Name> checked = Name::make(name);
  if (!checked) {
    callback(std::unexpected(checked.error()));
    return;
  }
  start(*checked, std::move(callback));
}

}  // namespace

void AsyncLeaseStore::claim(std::string_view name, const Claim& claim, Deadline deadline,
                            Callback<ClaimOutcome> callback) {
  start_if(internal::check_claim(claim), name, std::move(callback),
           [&](const Name& checked, Callback<ClaimOutcome> back) {
             start_claim(checked, claim, deadline, std::move(back));
           });
}

void AsyncLeaseStore::transfer(std::string_view name, const base::LeaseId& from, const Claim& to,
                               Deadline deadline, Callback<TransferOutcome> callback) {
  start_if(internal::check_claim(to), name, std::move(callback),
           [&](const Name& checked, Callback<TransferOutcome> back) {
             start_transfer(checked, from, to, deadline, std::move(back));
           });
}

void AsyncLeaseStore::release(std::string_view name, const base::LeaseId& id, Deadline deadline,
                              Callback<ReleaseOutcome> callback) {
  start_if({}, name, std::move(callback), [&](const Name& checked, Callback<ReleaseOutcome> back) {
    start_release(checked, id, deadline, std::move(back));
  });
}

void AsyncLeaseStore::look(std::string_view name, Deadline deadline,
                           Callback<std::optional<NameState>> callback) {
  start_if({}, name, std::move(callback),
           [&](const Name& checked, Callback<std::optional<NameState>> back) {
             start_look(checked, deadline, std::move(back));
           });
}

void AsyncLeaseStore::hit(std::string_view name, const Hit& hit, Deadline deadline,
                          Callback<HitOutcome> callback) {
  start_if(internal::check_hit(hit), name, std::move(callback),
           [&](const Name& checked, Callback<HitOutcome> back) {
             start_hit(checked, hit, deadline, std::move(back));
           });
}

}  // namespace holdfast::store
