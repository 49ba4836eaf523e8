#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "apps/holdfast/torture/nemesis.h"

namespace holdfast::cli::torture {

using base::Duration;
using base::TimePoint;

namespace {

std::string_view name_of(FaultKind kind) {
  return std::ranges::find(kFaultNames, kind, &std::pair<FaultKind, std::string_view>::first)
      ->second;
}

}  // namespace

Nemesis::Nemesis(const Settings& settings, Crew& crew, const Recorder& recorder, History& history)
    : settings_(settings),
      crew_(crew),
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
  if (settings_.faults.empty() || now < next_) {
    return;
  }
  if (next_ != TimePoint()) {  // the first pause comes before the first fault
    begin(now);
  }
  next_ = now + between(settings_.ttl / 20, settings_.ttl / 2);
}

void Nemesis::begin(TimePoint now) {
  const FaultKind kind = settings_.faults[random_() % settings_.faults.size()];
  const std::size_t place = random_() % crew_.size();
  if (std::ranges::find(active_, place, &Active::place) != active_.end()) {
    return;  // one fault at a time for each
  }
  active_.push_back({.kind = kind, .place = place, .until = now, .fault = history_.faults.size()});
  history_.faults.push_back({.what = std::string(name_of(kind)),
                             .target = "worker " + std::to_string(crew_.number(place)),
                             .begin = recorder_.since_begin(now),
                             .end = recorder_.since_begin(now)});
  switch (kind) {
    case FaultKind::pause:
      active_.back().until = now + between(settings_.ttl / 4, settings_.ttl * 3);
      return crew_.pause(place);
    case FaultKind::kill:
      active_.back().until = now + between(Duration::zero(), settings_.ttl / 2);
      return crew_.kill(place);
  }
}

void Nemesis::end(const Active& active, TimePoint now) {
  history_.faults[active.fault].end = recorder_.since_begin(now);
  switch (active.kind) {
    case FaultKind::pause: return crew_.resume(active.place);
    case FaultKind::kill: return crew_.replace(active.place);
  }
}

void Nemesis::heal(TimePoint now) {
  for (const Active& active : std::exchange(active_, {})) {
    end(active, now);
  }
}

}  // namespace holdfast::cli::torture
