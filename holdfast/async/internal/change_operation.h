#pragma once

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
#include <holdfast/base/ids.h>
#include <holdfast/recipes/change_steps.h>

namespace holdfast::async::internal {

// An operation that waits until the leader has changed.
class ChangeOperation : public Operation {
 public:
  static constexpr bool kCancellable = true;

  ChangeOperation(const std::shared_ptr<EngineRoom>& room, const base::Clock* clock,
                  std::string name, std::optional<base::FencingToken> known, base::Duration wait,
                  const std::stop_token& stop)
      : Operation(room),
        stop_(stop),
        steps_(room->store, *clock, std::move(name), known, wait, stop, *this) {}

  [[nodiscard]] std::tuple<base::Result<std::optional<recipes::Leader>>> take() {
    return std::move(steps_.outcome());
  }

 private:
  locks::steps::Procedure& procedure() noexcept final { return steps_; }
  void on_start() final { on_stop_.emplace(stop_, RingOnStop{*this}); }
  void on_cancel() noexcept final { steps_.cancel(); }

  const std::stop_token stop_;
  recipes::ChangeSteps steps_;
  std::optional<std::stop_callback<RingOnStop>> on_stop_;
};

}  // namespace holdfast::async::internal
