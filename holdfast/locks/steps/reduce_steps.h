#pragma once

#include <cstdint>

#include <holdfast/base/error.h>
#include <holdfast/locks/ask_again.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/outcome.h>

namespace holdfast::locks::internal {
class Hold;
}  // namespace holdfast::locks::internal

namespace holdfast::locks::steps {

// Gives all but so many permits of a lease back to the store.
class ReduceSteps final : public Procedure {
 public:
  // `hold` outlives it.
  ReduceSteps(internal::Hold& hold, std::uint32_t permits);

  [[nodiscard]] Step start() override;
  [[nodiscard]] Step on(Answer&& answer) override;

  // The handle is about to go: it is not changed any more. Not during a step.
  void abandon() noexcept { abandoned_ = true; }

  // When done.
  [[nodiscard]] const base::Result<void>& outcome() const noexcept { return outcome_; }

 private:
  [[nodiscard]] Step ask() const;
  Step end(base::Result<void> outcome);

  internal::Hold& hold_;
  const store::Claim less_;
  AskedAgain<store::TransferOutcome> asked_;
  bool abandoned_ = false;
  base::Result<void> outcome_{};
};

}  // namespace holdfast::locks::steps
