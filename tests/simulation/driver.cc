#include <tests/simulation/driver.h>

#include <utility>

namespace holdfast::simulation {

using locks::steps::Woken;

void Driver::take(Step step) {
  while (step.kind == Step::Kind::wait && is_woken_) {
    is_woken_ = false;
    step = procedure_.on(Woken{.by_waker = true});
  }
  ++*turn_;
  switch (step.kind) {
    case Step::Kind::done:
      state_ = State::done;
      surroundings_.timeline().after({}, &surroundings_.actor(), [this] { on_done_(); });
      return;
    case Step::Kind::wait: wait(step.until); return;
    case Step::Kind::watch: procedure_.watch(); break;
    default: break;
  }
  state_ = State::asking;
  surroundings_.ask(step, [this](std::optional<Answer> answer) {
    if (answer) {
      resume(*std::move(answer));
    } else {
      take(procedure_.on_exception());
    }
  });
}

void Driver::wait(base::TimePoint until) {
  state_ = State::waiting;
  if (until == base::TimePoint::max()) {
    return;
  }
  surroundings_.timeline().at(surroundings_.true_time(until), &surroundings_.actor(),
                              [this, turn = turn_, at = *turn_] {
                                if (*turn == at) {
                                  resume(Woken{.by_waker = std::exchange(is_woken_, false)});
                                }
                              });
}

void Driver::wake() noexcept {
  if (std::exchange(is_woken_, true) || state_ != State::waiting) {
    return;
  }
  surroundings_.timeline().after({}, &surroundings_.actor(), [this, turn = turn_, at = *turn_] {
    if (*turn == at) {
      is_woken_ = false;
      resume(Woken{.by_waker = true});
    }
  });
}

void Driver::resume(locks::steps::Answer answer) { take(procedure_.on(std::move(answer))); }

}  // namespace holdfast::simulation
