#pragma once

#include <stop_token>

#include <holdfast/base/clock.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/locks/steps/waker.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::locks::steps {

// Does a step that asks the store; blocks as the store does.
[[nodiscard]] Answer ask(store::LeaseStore& store, const Step& step);

// Drives a procedure to its end in the calling thread, from the step that it wants first.
template <class P>
void run_blocking(P& procedure, Step step, store::LeaseStore& store, const base::Clock& clock,
                  ThreadWaker& waker) {
  while (step.kind != Step::Kind::done) {
    switch (step.kind) {
      case Step::Kind::wait:
        step = procedure.on(Woken{.by_waker = waker.wait_until(clock, step.until, step.slack)});
        break;
      case Step::Kind::watch:
        procedure.watch();
        step = procedure.on({});
        break;
      default: step = procedure.on(ask(store, step));
    }
  }
}

// Drives a procedure from its beginning to its end, and cancels it when `stop` is requested.
template <class P>
void run_blocking(P& procedure, const std::stop_token& stop, store::LeaseStore& store,
                  const base::Clock& clock, ThreadWaker& waker) {
  const std::stop_callback on_stop(stop, [&] {
    procedure.cancel();
    waker.wake();
  });
  run_blocking(procedure, procedure.start(), store, clock, waker);
}

}  // namespace holdfast::locks::steps
