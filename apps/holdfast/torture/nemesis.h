#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <holdfast/base/clock.h>

#include "apps/holdfast/torture/crew.h"
#include "apps/holdfast/torture/recorder.h"
#include "apps/holdfast/torture/settings.h"

namespace holdfast::cli::torture {

// Chooses faults at random times, begins them, and ends them.
class Nemesis {
 public:
  // All outlive it. The faults are noted in the history.
  Nemesis(const Settings& settings, Crew& crew, const Recorder& recorder, History& history);

  // Does what is due at this time.
  void act(base::TimePoint now);
  // Ends all faults.
  void heal(base::TimePoint now);

 private:
  struct Active {
    FaultKind kind;
    std::size_t place;
    base::TimePoint until;
    std::size_t fault;  // of History::faults
  };

  void begin(base::TimePoint now);
  void end(const Active& active, base::TimePoint now);
  [[nodiscard]] base::Duration between(base::Duration least, base::Duration most);

  const Settings& settings_;
  Crew& crew_;
  const Recorder& recorder_;
  History& history_;
  std::mt19937_64 random_;
  base::TimePoint next_{};
  std::vector<Active> active_;
};

}  // namespace holdfast::cli::torture
