#include <holdfast/engines/disabled_store.h>

namespace holdfast::engines {

namespace {

using base::Deadline;
using base::Name;
using base::Result;

std::unexpected<base::Error> switched_off() {
  return base::fail(base::ErrorCode::unavailable,
                    "the lock store is switched off (disabled:): give the URL of a store to switch "
                    "it on");
}

}  // namespace

store::Capabilities DisabledStore::capabilities() const {
  // It grants no lease, so two processes never hold one at the same time.
  return {.engine = "disabled", .cross_process = true, .cross_machine = true, .immediate = true};
}

Result<store::ClaimOutcome> DisabledStore::do_claim(const Name&, const store::Claim&, Deadline) {
  return switched_off();
}
Result<std::vector<store::RenewOutcome>> DisabledStore::do_renew(std::span<const store::Renewal>,
                                                                 Deadline) {
  return switched_off();
}
Result<store::TransferOutcome> DisabledStore::do_transfer(const Name&, const base::LeaseId&,
                                                          const store::Claim&, Deadline) {
  return switched_off();
}
Result<store::ReleaseOutcome> DisabledStore::do_release(const Name&, const base::LeaseId&,
                                                        Deadline) {
  return switched_off();
}
Result<std::optional<store::NameState>> DisabledStore::do_look(const Name&, Deadline) {
  return switched_off();
}
Result<store::Page> DisabledStore::do_list(std::string_view, const store::PageRequest&, Deadline) {
  return switched_off();
}
Result<store::HitOutcome> DisabledStore::do_hit(const Name&, const store::Hit&, Deadline) {
  return switched_off();
}
Result<store::Watch> DisabledStore::do_watch(const Name&, store::WatchCallback) {
  return switched_off();
}

}  // namespace holdfast::engines
