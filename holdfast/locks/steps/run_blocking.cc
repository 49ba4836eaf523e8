#include <holdfast/locks/steps/run_blocking.h>

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

}  // namespace holdfast::locks::steps
