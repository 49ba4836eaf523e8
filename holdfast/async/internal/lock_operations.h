#pragma once

#include <cstdint>
#include <exception>
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
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/steps/acquire_steps.h>
#include <holdfast/locks/steps/reduce_steps.h>
#include <holdfast/locks/steps/release_steps.h>
#include <holdfast/store/outcome.h>

// The operations of AsyncLockProvider and AsyncLock.
namespace holdfast::async::internal {

class AcquireOperation : public Operation {
 public:
  static constexpr bool kCancellable = true;

  AcquireOperation(const std::shared_ptr<EngineRoom>& room,
                   std::shared_ptr<locks::internal::ProviderCore> core, std::string name,
                   locks::AcquireOptions how, base::Duration default_wait);
  ~AcquireOperation() override;

 protected:
  // Call it once.
  [[nodiscard]] base::Result<std::shared_ptr<locks::internal::Hold>>& outcome() noexcept {
    return steps_.outcome();
  }

 private:
  locks::steps::Procedure& procedure() noexcept final { return steps_; }
  void on_start() final { on_stop_.emplace(how_.stop, RingOnStop{*this}); }
  void on_cancel() noexcept final { steps_.cancel(); }
  void on_unwanted() noexcept final;

  const std::shared_ptr<locks::internal::ProviderCore> core_;
  const std::string name_;
  const locks::AcquireOptions how_;
  locks::steps::AcquireSteps steps_;
  std::optional<std::stop_callback<RingOnStop>> on_stop_;
};

// Releases a lock; the handle is kept alive until its end.
class ReleaseOperation : public Operation {
 public:
  // A caller that cancels could not know the result: it ends by its deadline.
  static constexpr bool kCancellable = false;

  ReleaseOperation(std::shared_ptr<EngineRoom> room, std::shared_ptr<locks::internal::Hold> hold)
      : Operation(std::move(room)), hold_(std::move(hold)), steps_(*hold_) {}

  // Releases without a waiting caller.
  static void start_in_background(const std::shared_ptr<EngineRoom>& room, locks::Lock&& lock);

  [[nodiscard]] std::tuple<base::Result<store::ReleaseOutcome>> take() { return steps_.outcome(); }

 private:
  locks::steps::Procedure& procedure() noexcept final { return steps_; }
  void on_unwanted() noexcept final;

  const std::shared_ptr<locks::internal::Hold> hold_;
  locks::steps::ReleaseSteps steps_;
};

class ReduceOperation : public Operation {
 public:
  static constexpr bool kCancellable = false;

  ReduceOperation(std::shared_ptr<EngineRoom> room, std::shared_ptr<locks::internal::Hold> hold,
                  std::uint32_t permits)
      : Operation(std::move(room)), hold_(std::move(hold)), steps_(*hold_, permits) {}

  [[nodiscard]] std::tuple<base::Result<void>> take() { return steps_.outcome(); }

 private:
  locks::steps::Procedure& procedure() noexcept final { return steps_; }
  void on_cancel() noexcept final { steps_.abandon(); }

  const std::shared_ptr<locks::internal::Hold> hold_;
  locks::steps::ReduceSteps steps_;
};

}  // namespace holdfast::async::internal
