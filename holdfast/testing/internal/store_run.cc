#include <holdfast/testing/internal/store_run.h>

#include <stdexcept>
#include <string>
#include <variant>

#include <holdfast/testing/internal/patience.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;

template <class Wanted, class Outcome>
Wanted expect_alternative(const base::Result<Outcome>& outcome, const char* instead) {
  if (!outcome) {
    base::throw_error(outcome.error());
  }
  if (const Wanted* const wanted = std::get_if<Wanted>(&*outcome)) {
    return *wanted;
  }
  throw std::runtime_error(instead);
}

}  // namespace

store::Claim wish(base::Ttl ttl, store::Permits permits) {
  return {.id = base::LeaseId::generate(),
          .owner = "somebody@here",
          .reason = "because",
          .ttl = ttl,
          .permits = permits};
}

store::Grant granted(const base::Result<store::ClaimOutcome>& outcome) {
  return expect_alternative<store::Grant>(outcome, "the claim was not granted but busy");
}

store::Busy busy(const base::Result<store::ClaimOutcome>& outcome) {
  return expect_alternative<store::Busy>(outcome, "the claim was not busy but granted");
}

store::Grant handed_over(const base::Result<store::TransferOutcome>& outcome) {
  return expect_alternative<store::Grant>(outcome, "the transfer was not granted but lost");
}

bool is_lost(const base::Result<store::TransferOutcome>& outcome) {
  return std::holds_alternative<store::Lost>(base::value_or_throw(outcome));
}

bool is_granted(const base::Result<store::ClaimOutcome>& outcome) {
  return std::holds_alternative<store::Grant>(base::value_or_throw(outcome));
}

StoreRun::StoreRun(const EngineUnderTest& engine)
    : engine_(engine), place_(engine.make_place()), store_(place_.open()) {}

void StoreRun::restart() {
  store_.reset();
  if (place_.restart) {
    place_.restart();
  }
  store_ = place_.open();
}

base::Duration StoreRun::ttl() const { return clock_moves() ? base::Duration(30s) : 500ms; }

void StoreRun::pass(base::Duration time) {
  if (clock_moves()) {
    place_.advance(time);
    return;
  }
  const std::string name = "a lease to wait for " + to_string(base::LeaseId::generate());
  (void)granted(store_->claim(name, wish(time)));
  if (!eventually([&] { return holders(name).empty(); })) {
    throw std::runtime_error("the store's clock stands still");
  }
}

store::RenewOutcome StoreRun::renew(std::string_view name, const base::LeaseId& id,
                                    base::Duration ttl) {
  const store::Renewal renewal{.name = name, .id = id, .ttl = ttl};
  return base::value_or_throw(store_->renew({&renewal, 1})).at(0);
}

store::ReleaseOutcome StoreRun::release(std::string_view name, const base::LeaseId& id) {
  return base::value_or_throw(store_->release(name, id));
}

std::vector<store::Holder> StoreRun::holders(std::string_view name) {
  const auto state = base::value_or_throw(store_->look(name));
  return state ? state->holders : std::vector<store::Holder>();
}

}  // namespace holdfast::testing::internal
