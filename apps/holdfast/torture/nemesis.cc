#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "apps/holdfast/torture/nemesis.h"

namespace holdfast::cli::torture {

using base::Duration;
using base::TimePoint;

Nemesis::Nemesis(const Settings& settings, Victims victims, const Recorder& recorder,
                 History& history)
    : settings_(settings),
      victims_(victims),
      recorder_(recorder),
      history_(history),
      random_(~settings.seed) {}

Duration Nemesis::between(Duration least, Duration most) {
  return least + Duration(random_() % static_cast<std::uint64_t>((most - least).count() + 1));
}

void Nemesis::act(TimePoint now) {
  const auto due = [now](const Active& active) { return active.until <= now; };
  for (const Active& active : active_) {
    if (due(active)) {
      end(active, now);
    }
  }
  std::erase_if(active_, due);
  revive_server(now);
  if (settings_.faults.empty() || now < next_) {
    return;
  }
  if (next_ != TimePoint()) {  // the first pause comes before the first fault
    begin(now);
  }
  next_ = now + between(settings_.ttl / 20, settings_.ttl / 2);
}

bool Nemesis::is_hurt(Target target, std::size_t place) const {
  return std::ranges::any_of(active_, [&](const Active& active) {
    return active.what.target == target && active.place == place;
  });
}

void Nemesis::revive_server(TimePoint now) {
  if (victims_.server == nullptr || now < next_revival_ || is_hurt(Target::server, 0) ||
      !victims_.server->status()) {
    return;
  }
  next_revival_ = now + std::chrono::seconds(1);
  const Time time = recorder_.since_begin(now);
  history_.faults.push_back(
      {.what = "server-ended", .target = "server", .begin = time, .end = time});
  victims_.server->start();
}

void Nemesis::begin(TimePoint now) {
  const FaultKind kind = settings_.faults[random_() % settings_.faults.size()];
  const FaultInfo& what = info_of(kind);
  const bool is_worker = what.target == Target::worker;
  const std::size_t place = is_worker ? random_() % victims_.crew.size() : 0;
  if (is_hurt(what.target, place)) {
    return;  // one fault at a time for each
  }
  std::string target = what.target == Target::network ? "network" : "server";
  if (is_worker) {
    target = "worker " + std::to_string(victims_.crew.number(place));
  }
  active_.push_back({.what = what,
                     .place = place,
                     .until = now + hurt(kind, place),
                     .fault = history_.faults.size()});
  history_.faults.push_back({.what = std::string(what.name),
                             .target = std::move(target),
                             .begin = recorder_.since_begin(now),
                             .end = recorder_.since_begin(now)});
}

Duration Nemesis::hurt(FaultKind kind, std::size_t place) {
  const Duration ttl = settings_.ttl;
  switch (kind) {
    case FaultKind::pause: victims_.crew.pause(place); return between(ttl / 4, ttl * 3);
    case FaultKind::kill: victims_.crew.kill(place); return between(Duration::zero(), ttl / 2);
    case FaultKind::cut: victims_.proxy->cut(); return Duration::zero();
    case FaultKind::delay:
      victims_.proxy->delay(between(Duration::zero(), ttl / 2));
      return between(ttl / 4, ttl);
    case FaultKind::hang: victims_.proxy->hang(); return between(ttl / 10, ttl * 2);
    case FaultKind::drop:
      victims_.proxy->drop_replies(static_cast<unsigned>(1 + random_() % 3));
      return ttl / 4;
    case FaultKind::server_kill: victims_.server->kill(); break;
    case FaultKind::server_pause: victims_.server->pause(); return between(ttl / 10, ttl * 2);
    case FaultKind::server_restart:
      victims_.server->ask_to_end();
      return std::chrono::seconds(1) + between(Duration::zero(), ttl / 2);
  }
  return between(Duration::zero(), ttl / 2);
}

void Nemesis::end(const Active& active, TimePoint now) {
  history_.faults[active.fault].end = recorder_.since_begin(now);
  switch (active.what.kind) {
    case FaultKind::pause: return victims_.crew.resume(active.place);
    case FaultKind::kill: return victims_.crew.replace(active.place);
    case FaultKind::cut: return;
    case FaultKind::delay: return victims_.proxy->delay(Duration::zero());
    case FaultKind::hang: return victims_.proxy->resume();
    case FaultKind::drop: return victims_.proxy->drop_replies(0);
    case FaultKind::server_pause: return victims_.server->resume();
    case FaultKind::server_kill:
    case FaultKind::server_restart: return victims_.server->start();
  }
}

void Nemesis::heal(TimePoint now) {
  for (const Active& active : std::exchange(active_, {})) {
    end(active, now);
  }
  revive_server(now);
}

}  // namespace holdfast::cli::torture
