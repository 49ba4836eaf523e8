#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <holdfast/base/clock.h>

#include "apps/holdfast/torture/crew.h"
#include "apps/holdfast/torture/proxy.h"
#include "apps/holdfast/torture/recorder.h"
#include "apps/holdfast/torture/server.h"
#include "apps/holdfast/torture/settings.h"

namespace holdfast::cli::torture {

// The parts of a run that faults happen to. Without a proxy or a server, none of theirs is chosen.
struct Victims {
  Crew& crew;
  Proxy* proxy;
  Server* server;
};

// Chooses faults at random times, begins them, and ends them.
class Nemesis {
 public:
  // All outlive it. The faults are noted in the history.
  Nemesis(const Settings& settings, Victims victims, const Recorder& recorder, History& history);

  // Does what is due at this time.
  void act(base::TimePoint now);
  // Ends all faults, and starts a server again that has ended.
  void heal(base::TimePoint now);

 private:
  struct Active {
    FaultInfo what;
    std::size_t place;  // of a worker; else 0
    base::TimePoint until;
    std::size_t fault;  // of History::faults
  };

  void begin(base::TimePoint now);
  // Begins it, and returns how long it lasts.
  base::Duration hurt(FaultKind kind, std::size_t place);
  void end(const Active& active, base::TimePoint now);
  // Starts a server again that has ended by itself, at most once a second.
  void revive_server(base::TimePoint now);
  [[nodiscard]] bool is_hurt(Target target, std::size_t place) const;
  [[nodiscard]] base::Duration between(base::Duration least, base::Duration most);

  const Settings& settings_;
  const Victims victims_;
  const Recorder& recorder_;
  History& history_;
  std::mt19937_64 random_;
  base::TimePoint next_{};
  base::TimePoint next_revival_{};
  std::vector<Active> active_;
};

}  // namespace holdfast::cli::torture
