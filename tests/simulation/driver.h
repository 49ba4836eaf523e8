#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <tests/simulation/link.h>

#include <holdfast/locks/steps/procedure.h>
#include <holdfast/locks/steps/waker.h>

namespace holdfast::simulation {

// Where a driver is: what it needs of its process.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  // Asks the store, with what the client of an engine does beside that.
  virtual void ask(const Step& step, Reply reply) = 0;
  // Returns the true time of a moment of the process's clock.
  [[nodiscard]] virtual base::TimePoint true_time(base::TimePoint when) const = 0;
  virtual Actor& actor() noexcept = 0;
  virtual Timeline& timeline() noexcept = 0;
};

// Drives one procedure from its beginning to its end, by events instead of a thread: what
// `steps::run_blocking` and `async::internal::Operation` do for programs.
class Driver final : public locks::steps::Waker {
 public:
  // `on_done` is called once, when the procedure is done; it may destroy the driver.
  Driver(Surroundings& surroundings, locks::steps::Procedure& procedure,
         std::function<void()> on_done)
      : surroundings_(surroundings), procedure_(procedure), on_done_(std::move(on_done)) {}

  ~Driver() { ++*turn_; }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  void start() { take(procedure_.start()); }
  void wake() noexcept override;
  [[nodiscard]] bool is_done() const noexcept { return state_ == State::done; }
  [[nodiscard]] bool is_waiting() const noexcept { return state_ == State::waiting; }

 private:
  enum class State : std::uint8_t { idle, asking, waiting, done };

  void take(Step step);
  void wait(base::TimePoint until);
  void resume(locks::steps::Answer answer);

  Surroundings& surroundings_;
  locks::steps::Procedure& procedure_;
  const std::function<void()> on_done_;
  State state_ = State::idle;
  // The number of the wait under way: an event of an earlier one, or of a driver that has ended, is
  // void.
  const std::shared_ptr<std::uint64_t> turn_ = std::make_shared<std::uint64_t>(0);
  bool is_woken_ = false;
};

}  // namespace holdfast::simulation
