#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/locks/internal/acquire_machine.h>
#include <holdfast/locks/internal/provider_core.h>

namespace holdfast::locks::internal {

// One call of `acquire`, from beginning to end: drives an AcquireMachine, in the calling thread.
class Acquisition {
 public:
  // `wait` of Duration::max(): without bound.
  Acquisition(ProviderCore& core, std::string_view name, const AcquireOptions& how,
              base::Duration wait);

  Acquisition(const Acquisition&) = delete;
  Acquisition& operator=(const Acquisition&) = delete;
  // After an exception: leaves the line.
  ~Acquisition();

  // Null if the name was not to be had in time.
  base::Result<std::shared_ptr<Hold>> run();

 private:
  using Action = AcquireMachine::Action;
  using Outcome = base::Result<std::shared_ptr<Hold>>;

  // One claim; the hold, or what to do next.
  std::variant<std::shared_ptr<Hold>, Action> claim();
  Action after_busy(const store::Busy& busy);
  // Waits for the bell or the time; the hold if one was handed over, or what to do next.
  std::variant<std::shared_ptr<Hold>, Action> sleep(base::TimePoint until);
  Outcome give_up(const AcquireMachine::GiveUp& why);

  base::Result<void> stand_in_line();
  Outcome turned_away(base::Error error);
  std::shared_ptr<Hold> finish(const HandedOver& granted);
  void warn_if_late(base::TimePoint now);
  [[nodiscard]] base::Deadline patience(base::TimePoint now) const;

  ProviderCore& core_;
  const base::Clock& clock_;
  const std::string_view name_;
  const AcquireOptions& how_;
  const base::TimePoint started_;
  const base::Deadline deadline_;
  AcquireMachine machine_;
  Waiter waiter_;
  bool in_line_ = false;
  bool claimed_ = false;     // has asked the store
  bool knew_first_ = false;  // has contended as the first in line
  bool warned_ = false;
  std::string held_by_;
  base::Error last_error_{};
};

}  // namespace holdfast::locks::internal
