#pragma once

#include <cstdint>

#include <holdfast/base/error.h>
#include <holdfast/locks/ask_again.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/outcome.h>

namespace holdfast::locks {
class Hold;
}  // namespace holdfast::locks

namespace holdfast::locks::steps {

// Gives all but so many permits of a lease back to the store. A cancelled one does not change the
// handle any more, which is about to be destroyed.
class ReduceSteps final : public Procedure {
 public:
  // `hold` outlives it.
  ReduceSteps(Hold& hold, std::uint32_t permits);

  [[nodiscard]] Step start() override;
  [[nodiscard]] Step on(Answer&& answer) override;

  // Returns the outcome, when done.
  [[nodiscard]] const base::Result<void>& outcome() const noexcept { return outcome_; }

 private:
  [[nodiscard]] Step ask() const;
  Step end(base::Result<void> outcome);

  Hold& hold_;
  const store::Claim less_;
  AskedAgain<store::TransferOutcome> asked_;
  base::Result<void> outcome_{};
};

}  // namespace holdfast::locks::steps
