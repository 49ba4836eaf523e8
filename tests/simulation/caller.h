#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <tests/simulation/driver.h>
#include <tests/simulation/random.h>
#include <tests/simulation/world.h>

#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock.h>

namespace holdfast::simulation {

class Process;

// One caller of a process: acquires a name, holds it for a while, releases it, and again. It drives
// the shipped AcquireSteps and ReleaseSteps, and checks that every call ends in time.
class Caller {
 public:
  Caller(Process& process, int number);
  ~Caller();
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void start();
  // From now on it only ends: cancels its call, releases what it has.
  void quit();

  [[nodiscard]] bool is_done() const noexcept { return phase_ == Phase::done; }
  [[nodiscard]] bool is_acquiring() const noexcept { return phase_ == Phase::acquiring; }
  [[nodiscard]] const locks::Lock* lock() const noexcept { return lock_ ? &*lock_ : nullptr; }
  [[nodiscard]] int name() const noexcept { return name_; }
  // Its process was killed.
  void die();
  // Returns the id of the claim under way; nil if there is none.
  [[nodiscard]] base::LeaseId claim_id() const noexcept;
  // Checks its call and its lock, after an event.
  void check();
  // Returns the ids of its calls that have ended without a lock, with the times of their ends.
  struct Ended {
    base::LeaseId id;
    int name;
    base::TimePoint when;
  };
  [[nodiscard]] const std::vector<Ended>& ended() const noexcept { return ended_; }
  [[nodiscard]] std::string label() const;

 private:
  enum class Phase : std::uint8_t { thinking, acquiring, holding, releasing, done };
  struct Acquire;
  struct Release;

  void think();
  void acquire();
  [[nodiscard]] locks::AcquireOptions draw_options();
  void cancel();
  void on_acquired();
  void hold();
  void release();
  void on_released();
  void check_end(const char* what, base::TimePoint by);

  Process& process_;
  World& world_;
  const int number_;
  Random random_;
  Phase phase_ = Phase::thinking;
  bool is_quitting_ = false;
  int rounds_left_;
  int round_ = 0;
  int name_ = 0;
  std::unique_ptr<Acquire> acquire_;
  std::unique_ptr<Release> release_;
  std::optional<locks::Lock> lock_;
  bool is_held_ = false;  // and not known to be lost
  std::vector<Ended> ended_;
};

}  // namespace holdfast::simulation
