#include <holdfast/locks/steps/run_blocking.h>

#include <exception>
#include <optional>

namespace holdfast::locks::steps {

Answer ask(store::LeaseStore& store, const Step& step) {
  switch (step.kind) {
    case Step::Kind::claim: return store.claim(step.name, *step.claim, step.deadline);
    case Step::Kind::transfer:
      return store.transfer(step.name, step.id, *step.claim, step.deadline);
    case Step::Kind::release: return store.release(step.name, step.id, step.deadline);
    case Step::Kind::renew: return store.renew(step.renewals, step.deadline);
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
  const auto take = [&](const Step& step) {
    switch (step.kind) {
      case Step::Kind::wait:
        return procedure.on(Woken{.by_waker = waker.wait_until(clock, step.until, step.slack)});
      case Step::Kind::watch: procedure.watch(); return procedure.on({});
      default: return procedure.on(ask(store, step));
    }
  };
  std::exception_ptr thrown;
  std::optional<Step> step;
  do {
    try {
      step = step ? take(*step) : procedure.start();
    } catch (...) {
      if (!thrown) {
        thrown = std::current_exception();
      }
      step = procedure.on_exception();
    }
  } while (step->kind != Step::Kind::done);
  if (thrown) {
    std::rethrow_exception(thrown);
  }
}

}  // namespace holdfast::locks::steps
