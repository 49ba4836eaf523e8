#include <holdfast/locks/steps/run_blocking.h>

#include <exception>

namespace holdfast::locks::steps {

Answer ask(store::LeaseStore& store, const Step& step) {
  switch (step.kind) {
    case Step::Kind::claim: return store.claim(step.name, *step.claim, step.deadline);
    case Step::Kind::transfer:
      return store.transfer(step.name, step.id, *step.claim, step.deadline);
    case Step::Kind::release: return store.release(step.name, step.id, step.deadline);
    case Step::Kind::hit: return store.hit(step.name, *step.hit, step.deadline);
    case Step::Kind::look: return store.look(step.name, step.deadline);
    case Step::Kind::watch:
    case Step::Kind::wait:
    case Step::Kind::done: break;
  }
  return {};
}

void run_blocking(Procedure& procedure, const std::stop_token& stop, store::LeaseStore& store,
                  const base::Clock& clock, ThreadWaker& waker) {
  const std::stop_callback on_stop(stop, [&] {
    procedure.cancel();
    waker.wake();
  });
  std::exception_ptr thrown;
  Step step = procedure.start();
  while (step.kind != Step::Kind::done) {
    try {
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
    } catch (...) {
      if (!thrown) {
        thrown = std::current_exception();
      }
      step = procedure.on_exception();
    }
  }
  if (thrown) {
    std::rethrow_exception(thrown);
  }
}

}  // namespace holdfast::locks::steps
