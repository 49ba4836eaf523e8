#include <holdfast/objects/internal/caretaker.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include <holdfast/base/cadence.h>
#include <holdfast/base/saturate.h>
#include <holdfast/objects/internal/host_core.h>

namespace holdfast::objects::internal {

namespace {

// The longest wait for all objects that are in use when they are to be saved, so that they do not
// delay the others.
constexpr std::chrono::milliseconds kBusyWait{200};
// The pause before another look at an object that must leave memory but is in use.
constexpr std::chrono::milliseconds kLookAgain{50};
// The number of objects that leave memory before the thread turns to its other duties.
constexpr std::size_t kMostIdle = 1000;

base::TimePoint first_tick(base::TimePoint now, const std::optional<base::Duration>& every) {
  return every ? base::add_saturating(now, *every) : base::TimePoint::max();
}

}  // namespace

Caretaker::Caretaker(HostCore& host) : host_(host) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Caretaker::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Caretaker::run(const std::stop_token& stop) {
  const base::Clock& clock = *host_.options.clock;
  const auto idle_every = host_.options.idle_after.transform(
      [](base::Duration after) { return std::max(after / 4, base::Duration(kLookAgain)); });
  base::TimePoint save_at = first_tick(clock.now(), host_.options.save_every);
  base::TimePoint retire_tick = first_tick(clock.now(), idle_every);
  base::TimePoint retire_at = retire_tick;
  while (!stop.stop_requested()) {
    base::TimePoint wake_at = std::min(save_at, retire_at);
    if (!still_lost_.empty()) {
      wake_at = std::min(wake_at, clock.now() + kLookAgain);
    }
    host_.lost.sleep(clock, wake_at, stop);
    if (stop.stop_requested()) {
      return;
    }
    drop_lost();
    if (clock.now() >= save_at) {
      save_changed();
      save_at = base::next_tick(save_at, clock.now(), *host_.options.save_every);
    }
    if (clock.now() >= retire_at) {
      const bool is_more_idle = retire_idle();
      retire_tick = base::next_tick(retire_tick, clock.now(), *idle_every);
      retire_at = is_more_idle ? clock.now() : retire_tick;
    }
  }
}

void Caretaker::save_changed() {
  Operation operation(host_);
  operation.hurry(kBusyWait);
  const auto saved = host_.writer.save_listed(operation);
  if (!saved && saved.error().code != base::ErrorCode::timed_out) {
    host_.options.logger.warn("not all objects were saved, they are tried again: " +
                              base::to_string(saved.error()));
  }
}

void Caretaker::drop_lost() {
  std::vector<LostObject> lost = std::exchange(still_lost_, {});
  std::ranges::move(host_.lost.take(), std::back_inserter(lost));
  for (LostObject& object : lost) {
    const auto key = object.type->keys.try_lock(object.id);
    if (!key) {
      still_lost_.push_back(std::move(object));  // its calls finish first
      continue;
    }
    Activation* const activation = object.type->table.find(object.id);
    if (activation != nullptr && activation->lost) {
      host_.activator.drop(*object.type, object.id);
    }
  }
}

bool Caretaker::retire_idle() {
  const std::span<ObjectType* const> types = host_.types.in_use();
  const base::TimePoint since = host_.options.clock->now() - *host_.options.idle_after;
  bool some_left = false;
  for (std::size_t tried = 0; tried < kMostIdle; ++tried) {
    while (idle_.ids.empty()) {
      if (idle_.type == types.size()) {
        idle_ = {};
        return false;
      }
      idle_.ids = types[idle_.type]->table.unused_since(since, idle_.shard);
      idle_.from = types[idle_.type];
      if (++idle_.shard == ActivationTable::kShards) {
        idle_.shard = 0;
        ++idle_.type;
      }
    }
    if (retire(*idle_.from, idle_.ids.back(), since)) some_left = true;
    idle_.ids.pop_back();
  }
  return some_left;
}

bool Caretaker::retire(ObjectType& type, std::string_view id, base::TimePoint idle_since) {
  const auto key = type.keys.try_lock(id);
  Activation* const activation = key ? type.table.find(id) : nullptr;
  if (activation == nullptr || activation->last_used > idle_since.time_since_epoch().count()) {
    return false;
  }
  Operation operation(host_);
  operation.commit();
  if (const auto saved = host_.writer.save(*activation, Turn::held, operation);
      !saved && !activation->lost) {
    host_.options.logger.warn("an idle object stays in memory: " + base::to_string(saved.error()));
    return false;
  }
  host_.activator.drop(type, id);
  ++host_.idle_objects;
  return true;
}

}  // namespace holdfast::objects::internal
