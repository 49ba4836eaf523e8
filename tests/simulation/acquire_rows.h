#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tests/simulation/planted.h>

#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/steps/acquire_steps.h>
#include <holdfast/locks/steps/procedure.h>

namespace holdfast::simulation {

// The number of times that each row of the table in locks/steps/acquire_steps.h was taken.
class AcquireRows {
 public:
  static constexpr std::size_t kRows = 32;

  // Returns `state: event → next`, as in the table.
  [[nodiscard]] static std::string_view text(std::size_t row) noexcept;
  [[nodiscard]] const std::array<std::uint64_t, kRows>& counts() const noexcept { return counts_; }
  void add(const AcquireRows& other) noexcept;
  void take(std::size_t row) noexcept { ++counts_[row]; }

 private:
  std::array<std::uint64_t, kRows> counts_{};
};

// AcquireSteps, with a note of each row of its table that it takes.
class WatchedAcquire final : public locks::steps::Procedure {
 public:
  WatchedAcquire(AcquireRows& rows, locks::ProviderCore& core, std::string_view name,
                 const locks::AcquireOptions& how, locks::steps::Waker& waker,
                 locks::steps::AcquireSteps::Joins joins, Bug bug = Bug::none);

  [[nodiscard]] locks::steps::Step start() override;
  [[nodiscard]] locks::steps::Step on(locks::steps::Answer&& answer) override;
  [[nodiscard]] locks::steps::Step on_exception() override;
  void watch() override { steps_.watch(); }

  [[nodiscard]] locks::steps::AcquireSteps& steps() noexcept { return steps_; }
  void cancel() noexcept;
  // Returns the id of its claim; nil before the first.
  [[nodiscard]] const base::LeaseId& id() const noexcept { return id_; }
  [[nodiscard]] bool has_thrown() const noexcept { return has_thrown_; }

 private:
  using State = locks::steps::AcquireSteps::State;

  // The event that has just happened.
  struct Event {
    State before;
    bool had_queue = false;  // others waited here for the name
    bool is_granted = false;
    bool is_pending = false;
    bool by_waker = false;
  };

  void note_start(const locks::steps::Step& next);
  [[nodiscard]] Event event_of(const locks::steps::Answer& answer) const;
  void note(const Event& event);
  void note_woken(const Event& event);
  void note_settled(State before);
  void note_id(const locks::steps::Step& next) noexcept;
  [[nodiscard]] locks::steps::Step plant(locks::steps::Step next);

  AcquireRows& rows_;
  locks::ProviderCore& core_;
  const std::string_view name_;
  const locks::AcquireOptions& how_;
  const Bug bug_;
  locks::steps::AcquireSteps steps_;
  base::LeaseId id_;
  bool has_thrown_ = false;
  bool is_cancelled_ = false;
};

}  // namespace holdfast::simulation
