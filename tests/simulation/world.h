#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ostream>

#include <tests/simulation/checker.h>
#include <tests/simulation/drifting_clock.h>
#include <tests/simulation/faults.h>
#include <tests/simulation/planted.h>
#include <tests/simulation/timeline.h>

#include <holdfast/base/clock.h>

namespace holdfast::simulation {

// The way in which the store of a history notifies its waiters.
enum class Wakes : std::uint8_t {
  by_queue,  // as Redis: a queue of claims, and a release grants the name to the first
  by_hint,   // as memory and SQLite: watchers get a hint that the name may be free
  never,     // waiters poll
};

// The distribution of the faults of a history: the probability of each for one message.
struct Weather {
  double losses = 0;
  double delays = 0;
  double duplicates = 0;
  double resets = 0;
  double notices = 0;  // lost, late, repeated
  double refusals = 0;
  double throws = 0;
  base::Duration longest_delay{};
};

// The subject of one history; its seed decides all of it.
struct Setting {
  std::uint64_t seed = 0;
  Wakes wakes = Wakes::by_queue;
  int processes = 2;
  int callers = 2;  // of each process
  int rounds = 4;   // of each caller
  int names = 1;
  base::Duration ttl{};  // most leases last so long
  base::Duration poll_least{};
  base::Duration poll_most{};
  base::Duration announce_after{};
  base::Duration latency{};  // of one message, at most
  base::Duration longest_hold{};
  base::Duration lasts{};  // faults happen until then
  std::size_t max_waiters = 1000;
  bool is_pooled = false;  // every request has a connection of its own: none waits for another
  Weather weather{};
};

// The state that everybody in a history shares.
struct World {
  const Setting setting;
  const Bug bug;
  Timeline timeline{};
  Faults faults;
  Checker checker;
  std::ostream* trace = nullptr;  // one line for each thing that happens

  [[nodiscard]] bool has(Bug which) const noexcept { return bug == which; }
};

// Writes a line with the time in front, where the history is traced: `line` is called with a
// stream.
template <class Line>
void trace(World& world, Line&& line) {
  if (world.trace != nullptr) {
    const auto now = world.timeline.now().time_since_epoch();
    *world.trace << std::chrono::duration<double>(now).count() << " s  ";
    line(*world.trace);
    *world.trace << '\n';
  }
}

}  // namespace holdfast::simulation
