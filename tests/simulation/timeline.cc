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
  auto place = static_cast<std::uint32_t>(slots_.size());
  if (free_.empty()) {
    slots_.push_back({actor, std::move(action)});
  } else {
    place = free_.back();
    free_.pop_back();
    slots_[place] = {actor, std::move(action)};
  }
  heap_.push_back({std::max(when, now_), ++added_, place});
  std::ranges::push_heap(heap_, is_later);
}

bool Timeline::step(base::TimePoint end) {
  if (heap_.empty() || heap_.front().when > end) {
    now_ = std::max(now_, end);
    return false;
  }
  std::ranges::pop_heap(heap_, is_later);
  now_ = heap_.back().when;
  const std::uint32_t place = heap_.back().place;
  heap_.pop_back();
  Event event = std::move(slots_[place]);
  free_.push_back(place);
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
