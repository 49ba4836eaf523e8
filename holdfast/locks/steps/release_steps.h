#pragma once

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/store/outcome.h>

namespace holdfast::locks {
class Hold;
class ProviderCore;
namespace internal {
struct Waiter;
}  // namespace internal
}  // namespace holdfast::locks

namespace holdfast::locks::steps {

// The release of a lease: passes it to the next in the queue, or releases it in the store, with the
// claim of the next one in the store's queue. Once begun, the lease is no longer renewed, whatever
// the outcome is.
class ReleaseSteps final : public Procedure {
 public:
  // `hold` must outlive it. It asks the store for as long as the lease lasts.
  explicit ReleaseSteps(Hold& hold) noexcept;
  // For a lease that no caller has received: it is no loss if it has expired. It asks for no longer
  // than `patience`.
  ReleaseSteps(Hold& hold, base::Duration patience) noexcept;
  // Wakes the waiter that would have been next, if it was not driven to its end.
  ~ReleaseSteps() override;

  [[nodiscard]] Step start() override;
  [[nodiscard]] Step on(Answer&& answer) override;
  [[nodiscard]] Step on_exception() override;

  // Returns the outcome, when done.
  [[nodiscard]] const base::Result<store::ReleaseOutcome>& outcome() const noexcept {
    return outcome_;
  }
  // Logs a failure, for a release without a caller.
  void warn_if_failed() const;

 private:
  // Returns whether the store keeps a queue in which the next waiter can be.
  [[nodiscard]] bool may_enqueue() const;
  Step on_enqueued();
  Step on_transfer(const base::Result<store::TransferOutcome>& transferred);
  Step to_the_store();
  Step end();

  Hold& hold_;
  ProviderCore& core_;
  const base::Duration patience_;
  bool may_be_gone_ = false;          // nobody has lost it if the store no longer has it
  internal::Waiter* next_ = nullptr;  // to whom it is offered
  bool is_last_ = false;              // of its row: next_ is not handed the name, but claims it
  bool asks_store_ = false;           // and no waiter knows yet that the name may be free
  base::TimePoint sent_{};
  base::Deadline deadline_ = base::Deadline::never();
  base::Result<store::ReleaseOutcome> outcome_ = store::ReleaseOutcome::not_held;
};

}  // namespace holdfast::locks::steps
