#include <holdfast/locks/steps/reduce_steps.h>

#include <utility>

#include <holdfast/locks/internal/provider_core.h>

namespace holdfast::locks::steps {

using base::ErrorCode;
using base::fail;
using base::Result;

ReduceSteps::ReduceSteps(Hold& hold, std::uint32_t permits)
    : hold_(hold),
      less_{.id = hold.id,
            .owner = hold.owner,
            .reason = hold.reason,
            .ttl = hold.schedule.ttl(),
            .permits = {permits, hold.permits.capacity}},
      asked_(hold.core->deadline_after(hold.patience(hold.clock.now()))) {}

Step ReduceSteps::start() {
  if (auto ours = hold_.check(); !ours) {
    return end(std::move(ours));
  }
  if (less_.permits.count > hold_.permits.count) {
    return end(
        fail(ErrorCode::invalid_argument, "a lock cannot be reduced to more permits than it has"));
  }
  return less_.permits == hold_.permits ? end({}) : ask();
}

Step ReduceSteps::ask() const {
  return {.kind = Step::Kind::transfer,
          .name = hold_.name,
          .id = hold_.id,
          .claim = &less_,
          .deadline = asked_.deadline()};
}

Step ReduceSteps::on(Answer&& answer) {
  if (asked_.take(std::get<Result<store::TransferOutcome>>(std::move(answer)))) {
    return ask();
  }
  const Result<store::TransferOutcome>& outcome = asked_.outcome();
  if (!outcome) {
    return end(std::unexpected(outcome.error()));
  }
  const auto* const grant = std::get_if<store::Grant>(&*outcome);
  if (grant == nullptr) {
    hold_.core->keeper.remove(hold_);
    hold_.lose();
    hold_.core->queues.wake_first(hold_.name);
    return end(hold_.check());
  }
  if (!is_cancelled()) {
    hold_.permits = less_.permits;
    hold_.token = grant->token;
  }
  return end({});
}

Step ReduceSteps::end(Result<void> outcome) {
  outcome_ = std::move(outcome);
  return {};
}

}  // namespace holdfast::locks::steps
