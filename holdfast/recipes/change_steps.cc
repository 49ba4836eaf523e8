#include <holdfast/recipes/change_steps.h>

#include <algorithm>
#include <utility>

#include <holdfast/base/saturate.h>

namespace holdfast::recipes {

namespace {

using base::ErrorCode;
using locks::steps::Answer;
using locks::steps::Step;

constexpr base::Duration kAskEvery = std::chrono::milliseconds(250);

}  // namespace

base::Result<std::optional<Leader>> leader_in(
    const base::Result<std::optional<store::NameState>>& state) {
  if (!state) {
    return std::unexpected(state.error());
  }
  if (!*state) {
    return std::nullopt;
  }
  const store::Holder& holder = (*state)->holders.front();
  return Leader{.owner = holder.owner,
                .token = holder.token,
                .leads_for = holder.held_for,
                .time_left = holder.time_left};
}

ChangeSteps::ChangeSteps(store::LeaseStore& store, const base::Clock& clock, std::string name,
                         std::optional<base::FencingToken> known, base::Duration wait,
                         locks::steps::Waker& waker)
    : store_(store),
      clock_(clock),
      name_(std::move(name)),
      known_(known),
      deadline_(base::Deadline::after(clock, wait)),
      waker_(waker) {}

Step ChangeSteps::start() { return {.kind = Step::Kind::watch}; }

// Without a watch, a change is only seen at the next poll.
void ChangeSteps::watch() {
  if (auto watch = store_.watch(name_, [this](const auto&) { waker_.wake(); })) {
    watch_ = *std::move(watch);
  }
}

// No wake-up comes after this, so that the waker may be destroyed.
Step ChangeSteps::end() {
  watch_.reset();
  return {};
}

Step ChangeSteps::on(Answer&& answer) {
  const auto* const state = std::get_if<base::Result<std::optional<store::NameState>>>(&answer);
  if (state == nullptr) {
    return {.kind = Step::Kind::look, .name = name_};
  }
  outcome_ = leader_in(*state);
  if (!outcome_) {
    return end();
  }
  const auto token = *outcome_ ? std::optional((*outcome_)->token) : std::nullopt;
  const base::TimePoint now = clock_.now();
  if (token != known_ || deadline_.expired(now)) {
    return end();
  }
  if (is_cancelled()) {
    outcome_ = base::fail(ErrorCode::cancelled, "the wait was cancelled");
    return end();
  }
  return Step::wait_until(std::min(base::add_saturating(now, kAskEvery), deadline_.when()));
}

}  // namespace holdfast::recipes
