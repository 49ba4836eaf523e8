#include <tests/simulation/plan.h>

#include <algorithm>
#include <array>

#include <tests/simulation/history.h>

namespace holdfast::simulation {

namespace {

using namespace std::chrono_literals;

Weather draw_weather(Random& random, base::Duration ttl) {
  Weather weather;
  weather.longest_delay = ttl * 3 / 2;
  if (random.chance(0.3)) {
    return weather;  // calm
  }
  const auto draw = [&](double often, double most) {
    return random.chance(often) ? most * random.fraction() * random.fraction() : 0;
  };
  weather.losses = draw(0.6, 0.2);
  weather.delays = draw(0.6, 0.2);
  weather.duplicates = draw(0.4, 0.1);
  weather.resets = draw(0.4, 0.1);
  weather.notices = draw(0.6, 0.4);
  weather.refusals = draw(0.2, 0.2);
  weather.throws = draw(0.1, 0.1);
  return weather;
}

}  // namespace

Setting draw_setting(std::uint64_t seed) {
  Random random(mix(seed, 1));
  Setting setting{.seed = seed};
  const double wakes = random.fraction();
  setting.wakes = wakes < 0.6 ? Wakes::by_queue : wakes < 0.8 ? Wakes::by_hint : Wakes::never;
  setting.processes = 1 + static_cast<int>(random.below(3));
  setting.callers = 1 + static_cast<int>(random.below(3));
  setting.rounds = 1 + static_cast<int>(random.below(4));
  setting.names = random.chance(0.6) ? 1 : 2;
  setting.ttl = random.of_any_size(150ms, 300s);
  setting.poll_most =
      std::clamp<base::Duration>(random.of_any_size(setting.ttl / 30, setting.ttl / 2), 20ms, 30s);
  setting.poll_least = random.of_any_size(1ms, setting.poll_most);
  setting.announce_after = random.of_any_size(setting.ttl / 20, setting.ttl);
  setting.latency = random.of_any_size(50us, std::min<base::Duration>(20ms, setting.ttl / 20));
  setting.longest_hold = random.of_any_size(setting.ttl / 10, setting.ttl * 3);
  setting.lasts = random.between(setting.ttl * 4, setting.ttl * 16);
  setting.max_waiters = random.chance(0.15) ? 1 + random.below(2) : 1000;
  setting.is_pooled = random.chance(0.3);
  setting.weather = draw_weather(random, setting.ttl);
  return setting;
}

std::vector<Planned> draw_plan(const Setting& setting) {
  constexpr std::array<Fault, 14> kKinds{
      Fault::partition,       Fault::partition,       Fault::process_stopped,
      Fault::process_stopped, Fault::process_crashed, Fault::process_crashed,
      Fault::process_ended,   Fault::server_stalled,  Fault::server_restarted,
      Fault::notice_forged,   Fault::notice_forged,   Fault::server_restarted_empty,
      Fault::failed_over,     Fault::clock_forward};
  Random random(mix(setting.seed, 2));
  std::vector<Planned> plan(random.chance(0.25) ? 0 : 1 + random.below(5));
  for (std::size_t i = 0; i < plan.size(); ++i) {
    Planned& planned = plan[i];
    planned.fault = kKinds[random.below(kKinds.size())];
    if (planned.fault == Fault::clock_forward && random.chance(0.5)) {
      planned.fault = Fault::clock_backward;
    }
    planned.number = i;
    planned.at = base::TimePoint(random.up_to(setting.lasts));
    planned.lasts = random.of_any_size(setting.ttl / 50, setting.ttl * 3);
    planned.process = static_cast<int>(random.below(static_cast<std::uint64_t>(setting.processes)));
    planned.is_odd = random.chance(0.5);
  }
  return plan;
}

}  // namespace holdfast::simulation
