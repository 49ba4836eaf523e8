#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>

#include <holdfast/async/internal/operation.h>
#include <holdfast/async/internal/ring_on_stop.h>
#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/recipes/hit_steps.h>
#include <holdfast/store/outcome.h>

namespace holdfast::async::internal {

// One call of a Throttle.
class HitOperation : public Operation {
 public:
  static constexpr bool kCancellable = true;

  HitOperation(std::shared_ptr<EngineRoom> room,
               std::shared_ptr<const recipes::ThrottleOptions> options, const std::string& key,
               std::uint32_t count, base::Duration wait, const std::stop_token& stop)
      : Operation(std::move(room)),
        options_(std::move(options)),
        stop_(stop),
        steps_(*options_, key, count, wait, stop) {}
  HitOperation(std::shared_ptr<EngineRoom> room,
               std::shared_ptr<const recipes::ThrottleOptions> options, const std::string& key)
      : Operation(std::move(room)), options_(std::move(options)), steps_(*options_, key) {}

 protected:
  [[nodiscard]] recipes::HitSteps& steps() noexcept { return steps_; }

 private:
  locks::steps::Procedure& procedure() noexcept final { return steps_; }
  void on_start() final { on_stop_.emplace(stop_, RingOnStop{*this}); }
  void on_cancel() noexcept final { steps_.cancel(); }

  const std::shared_ptr<const recipes::ThrottleOptions> options_;
  const std::stop_token stop_;
  recipes::HitSteps steps_;
  std::optional<std::stop_callback<RingOnStop>> on_stop_;
};

class PassOperation : public HitOperation {
 public:
  using HitOperation::HitOperation;
  [[nodiscard]] std::tuple<base::Result<bool>> take() { return steps().allowed(); }
};

class HitStateOperation : public HitOperation {
 public:
  using HitOperation::HitOperation;
  [[nodiscard]] std::tuple<base::Result<store::HitOutcome>> take() {
    return std::move(steps().outcome());
  }
};

}  // namespace holdfast::async::internal
