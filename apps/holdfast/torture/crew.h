#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <holdfast/base/clock.h>

#include "apps/holdfast/torture/fork.h"
#include "apps/holdfast/torture/recorder.h"
#include "apps/holdfast/torture/settings.h"
#include "apps/holdfast/waiting/descriptor.h"

namespace holdfast::cli::torture {

// The worker processes: a place for each, in which a new one starts when the old one was killed.
class Crew {
 public:
  // `settings` and `recorder` outlive it.
  Crew(const Settings& settings, Recorder& recorder);

  // Starts a worker in each place; they end at that time.
  void start(base::TimePoint until);
  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
  // Returns the number of the worker in a place.
  [[nodiscard]] std::uint32_t number(std::size_t place) const { return places_[place].number; }

  void pause(std::size_t place);
  void resume(std::size_t place);
  void kill(std::size_t place);
  // Starts a new worker in the place of one that was killed.
  void replace(std::size_t place);

  // Readable when a worker has reported.
  [[nodiscard]] int reports() const noexcept { return read_end_.get(); }
  // Takes all reports that have come.
  void read_reports();
  // Notices workers that have ended. Returns whether any still runs.
  bool any_runs();
  // Kills those that still run. Returns how many those were.
  std::size_t kill_all();
  // Returns what was wrong with workers that ended by themselves too early.
  [[nodiscard]] const std::vector<std::string>& crashes() const noexcept { return crashes_; }

 private:
  struct Place {
    std::unique_ptr<Fork> process;
    std::uint32_t number = 0;
    bool has_ended = false;
  };

  void start_worker(Place& place);
  void end_worker(Place& place);

  const Settings& settings_;
  Recorder& recorder_;
  base::TimePoint until_{};
  Descriptor read_end_;
  Descriptor write_end_;
  std::uint32_t started_ = 0;
  std::vector<Place> places_;
  std::vector<std::string> crashes_;
};

}  // namespace holdfast::cli::torture
