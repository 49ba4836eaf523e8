#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/recipes/throttle_options.h>
#include <holdfast/store/hit.h>
#include <holdfast/store/outcome.h>

namespace holdfast::recipes {

// One call of a Throttle as a procedure, for writing other front ends (see locks/steps/): asks the
// store and, if it may not pass, sleeps and asks again while it may still pass within the wait.
class HitSteps final : public locks::steps::Procedure {
 public:
  // For passing. A wait of zero asks once; Duration::max() has no limit. `options` must outlive it.
  HitSteps(const ThrottleOptions& options, std::string_view key, std::uint32_t count,
           base::Duration wait);
  // For reading the state without being counted.
  HitSteps(const ThrottleOptions& options, std::string_view key);

  [[nodiscard]] locks::steps::Step start() override;
  [[nodiscard]] locks::steps::Step on(locks::steps::Answer&& answer) override;

  // Returns the store's last answer, when done.
  [[nodiscard]] base::Result<store::HitOutcome>& outcome() noexcept { return outcome_; }
  // Returns the same as the result of `pass`.
  [[nodiscard]] base::Result<bool> allowed() const;

 private:
  HitSteps(const ThrottleOptions& options, std::string_view key, std::uint32_t count,
           base::Deadline until, std::optional<base::Error> refused);

  [[nodiscard]] locks::steps::Step ask();
  [[nodiscard]] locks::steps::Step pause();

  const ThrottleOptions& options_;
  const std::string name_;
  const store::Hit hit_;
  const base::Deadline until_;
  const std::optional<base::Error> refused_;
  base::Result<store::HitOutcome> outcome_{};
};

}  // namespace holdfast::recipes
