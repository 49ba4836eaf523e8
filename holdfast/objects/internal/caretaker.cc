#include <holdfast/objects/internal/caretaker.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>

#include <holdfast/base/cadence.h>
#include <holdfast/base/saturate.h>

namespace holdfast::objects::internal {

namespace {

// How long to wait for an object that is in use when it is to be saved.
constexpr std::chrono::milliseconds kBusyWait{200};
// When to look again at an object that must leave memory but is in use.
constexpr std::chrono::milliseconds kLookAgain{50};
// How many objects leave memory before the thread turns to its other duties.
constexpr std::size_t kMostIdle = 1000;

base::TimePoint first_tick(base::TimePoint now, const std::optional<base::Duration>& every) {
  return every ? base::add_saturating(now, *every) : base::TimePoint::max();
}

}  // namespace

Caretaker::Caretaker(HostState& host, Activator& activator, Writer& writer)
    : host_(host), activator_(activator), writer_(writer) {
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

base::Result<std::size_t> Caretaker::save_listed(const SaveOne& save_busy) {
  std::size_t saved = 0;
  std::optional<base::Error> error;
  for (ObjectType* const type : host_.types.in_use()) {
    // Each of them once: an object that is listed meanwhile, or stays listed, neither delays the
    // others nor makes this endless.
    const std::vector<std::string> ids = listed_ids(*type);
    for (std::span<const std::string> left = ids; !left.empty();) {
      Sweep sweep;
      {
        const std::lock_guard guard(sweeping_);
        sweep = writer_.sweep(*type, left.first(std::min(left.size(), host_.options.save_batch)));
      }
      saved += sweep.saved;
      left = left.subspan(sweep.taken);
      if (sweep.error) error = std::move(sweep.error);
      for (const std::string& id : sweep.busy) {
        auto one = save_busy(*type, id);
        if (!one) {
          error = std::move(one).error();
        } else if (*one == SaveOutcome::saved) {
          ++saved;
        }
      }
    }
  }
  if (error) {
    return std::unexpected(*std::move(error));
  }
  return saved;
}

std::vector<std::string> Caretaker::listed_ids(const ObjectType& type) {
  const std::lock_guard guard(sweeping_);
  return type.table.listed_ids();
}

void Caretaker::save_changed() {
  // One budget for all busy objects, so that they do not delay the others.
  const local::KeyWait wait{.until = std::chrono::steady_clock::now() + kBusyWait,
                            .priority = local::Priority::urgent};
  const auto saved = save_listed(
      [&](ObjectType& type, std::string_view id) { return writer_.save(type, id, wait); });
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
      activator_.drop(*object.type, object.id);
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
  if (const auto saved = writer_.save(*activation, Turn::held, host_.wait_to_end());
      !saved && !activation->lost) {
    host_.options.logger.warn("an idle object stays in memory: " + base::to_string(saved.error()));
    return false;
  }
  activator_.drop(type, id);
  ++host_.idle_objects;
  return true;
}

}  // namespace holdfast::objects::internal
