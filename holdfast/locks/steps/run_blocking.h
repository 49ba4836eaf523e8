#pragma once

#include <holdfast/base/clock.h>
#include <holdfast/locks/steps/bell.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::locks::steps {

// Does a step that asks the store; blocks as the store does.
[[nodiscard]] Answer ask(store::LeaseStore& store, const Step& step);

// Waits for the bell, and hears the store's hints meanwhile if it can.
[[nodiscard]] Woken wait(store::LeaseStore& store, const base::Clock& clock, base::TimePoint until,
                         Bell& bell);

// Drives a procedure to its end in the calling thread, from the step that it wants first.
template <class P>
void run_blocking(P& procedure, Step step, store::LeaseStore& store, const base::Clock& clock,
                  Bell& bell) {
  while (step.kind != Step::Kind::done) {
    switch (step.kind) {
      case Step::Kind::wait: step = procedure.on(wait(store, clock, step.until, bell)); break;
      case Step::Kind::watch:
        procedure.watch();
        step = procedure.on({});
        break;
      default: step = procedure.on(ask(store, step));
    }
  }
}

}  // namespace holdfast::locks::steps
