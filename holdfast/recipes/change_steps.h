#pragma once

#include <optional>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/locks/steps/waker.h>
#include <holdfast/recipes/leader.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::recipes {

// LeaderElection::wait_for_change as a procedure, for writing other front ends (see locks/steps/).
class ChangeSteps final : public locks::steps::Procedure {
 public:
  // The store, the clock and the waker must outlive it.
  ChangeSteps(store::LeaseStore& store, const base::Clock& clock, std::string name,
              std::optional<base::FencingToken> known, base::Duration wait,
              locks::steps::Waker& waker);

  [[nodiscard]] locks::steps::Step start() override;
  [[nodiscard]] locks::steps::Step on(locks::steps::Answer&& answer) override;
  void watch() override;

  // Returns the outcome, when done.
  [[nodiscard]] base::Result<std::optional<Leader>>& outcome() noexcept { return outcome_; }

 private:
  [[nodiscard]] locks::steps::Step end();
  store::LeaseStore& store_;
  const base::Clock& clock_;
  const std::string name_;
  const std::optional<base::FencingToken> known_;
  const base::Deadline deadline_;
  locks::steps::Waker& waker_;
  std::optional<store::Watch> watch_;
  base::Result<std::optional<Leader>> outcome_{};
};

}  // namespace holdfast::recipes
