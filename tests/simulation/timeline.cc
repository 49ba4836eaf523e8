#include <tests/simulation/timeline.h>

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

base::Duration Actor::stopped_for() const noexcept {
  return is_stopped_ ? stopped_for_ + (timeline_.now() - stopped_at_) : stopped_for_;
}

void Actor::stop() noexcept {
  if (!std::exchange(is_stopped_, true)) {
    stopped_at_ = timeline_.now();
  }
}

void Actor::go_on() {
  if (!std::exchange(is_stopped_, false)) {
    return;
  }
  stopped_for_ += timeline_.now() - stopped_at_;
  for (Action& action : std::exchange(deferred_, {})) {
    timeline_.at(timeline_.now(), this, std::move(action));
  }
}

void Timeline::at(base::TimePoint when, Actor* actor, Action action) {
  heap_.push_back({std::max(when, now_), ++added_, actor, std::move(action)});
  std::ranges::push_heap(heap_, is_later);
}

bool Timeline::step(base::TimePoint end) {
  if (heap_.empty() || heap_.front().when > end) {
    now_ = std::max(now_, end);
    return false;
  }
  std::ranges::pop_heap(heap_, is_later);
  Event event = std::move(heap_.back());
  heap_.pop_back();
  now_ = event.when;
  last_actor_ = event.actor;
  if (event.actor != nullptr && event.actor->is_stopped()) {
    event.actor->deferred_.push_back(std::move(event.action));
    return true;
  }
  ++events_;
  event.action();
  return true;
}

}  // namespace holdfast::simulation
