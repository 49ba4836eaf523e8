#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>

#include <holdfast/async/internal/engine_room.h>
#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/locks/steps/acquire_steps.h>
#include <holdfast/locks/steps/reduce_steps.h>
#include <holdfast/locks/steps/release_steps.h>
#include <holdfast/locks/steps/waker.h>
#include <holdfast/recipes/change_steps.h>
#include <holdfast/recipes/hit_steps.h>
#include <holdfast/store/outcome.h>

// The operations of the async layer, each with the state that its procedure borrows: see
// ProcedureOperation.
namespace holdfast::async::internal {

using Room = std::shared_ptr<EngineRoom>;
using locks::steps::Waker;

// A call that its caller can cancel.
struct CancellableCall {
  static constexpr bool kCancellable = true;
  std::stop_token stop;

  void on_unwanted(const Room& /*room*/) noexcept {}
};

// A call that ends by its deadline: a caller that cancelled it could not know the result.
struct UncancellableCall {
  static constexpr bool kCancellable = false;

  void on_unwanted(const Room& /*room*/) noexcept {}
};

struct AcquireCall : CancellableCall {
  AcquireCall(const EngineRoom& room, Waker& waker, std::shared_ptr<locks::ProviderCore> its_core,
              std::string its_name, locks::AcquireOptions its_options, base::Duration default_wait);
  // Releases a lock that was granted after the caller had stopped waiting.
  void on_unwanted(const Room& room) noexcept;

  const std::shared_ptr<locks::ProviderCore> core;
  const std::string name;
  const locks::AcquireOptions how;
  locks::steps::AcquireSteps steps;
};

struct ReleaseCall : UncancellableCall {
  ReleaseCall(const EngineRoom& /*room*/, Waker& /*waker*/, std::shared_ptr<locks::Hold> its_hold)
      : hold(std::move(its_hold)), steps(*hold) {}

  [[nodiscard]] std::tuple<base::Result<store::ReleaseOutcome>> take(const Room& /*room*/) {
    return steps.outcome();
  }
  void on_unwanted(const Room& /*room*/) noexcept { steps.warn_if_failed(); }

  const std::shared_ptr<locks::Hold> hold;
  locks::steps::ReleaseSteps steps;
};

// Releases a lock without a waiting caller.
void release_in_background(const Room& room, locks::Lock&& lock);

struct ReduceCall : UncancellableCall {
  ReduceCall(const EngineRoom& /*room*/, Waker& /*waker*/, std::shared_ptr<locks::Hold> its_hold,
             std::uint32_t permits)
      : hold(std::move(its_hold)), steps(*hold, permits) {}

  [[nodiscard]] std::tuple<base::Result<void>> take(const Room& /*room*/) {
    return steps.outcome();
  }

  const std::shared_ptr<locks::Hold> hold;
  locks::steps::ReduceSteps steps;
};

// Asks the store once for the holders of a name.
struct LookCall : UncancellableCall {
  using Outcome = base::Result<std::optional<store::NameState>>;

  LookCall(const EngineRoom& /*room*/, Waker& /*waker*/, std::string its_name)
      : steps(std::move(its_name)) {}

  [[nodiscard]] std::tuple<Outcome> take(const Room& /*room*/) { return std::move(steps.outcome); }

  class Steps final : public locks::steps::Procedure {
   public:
    explicit Steps(std::string name) : name_(std::move(name)) {}

    [[nodiscard]] locks::steps::Step start() override {
      return {.kind = locks::steps::Step::Kind::look, .name = name_};
    }
    [[nodiscard]] locks::steps::Step on(locks::steps::Answer&& answer) override {
      outcome = std::get<Outcome>(std::move(answer));
      return {};
    }

    Outcome outcome;

   private:
    const std::string name_;
  };
  Steps steps;
};

// Waits until the leader has changed.
struct ChangeCall : CancellableCall {
  ChangeCall(const EngineRoom& room, Waker& waker, const base::Clock* clock, std::string name,
             std::optional<base::FencingToken> known, base::Duration wait, std::stop_token its_stop)
      : CancellableCall{std::move(its_stop)},
        steps(room.store, *clock, std::move(name), known, wait, waker) {}

  [[nodiscard]] std::tuple<base::Result<std::optional<recipes::Leader>>> take(
      const Room& /*room*/) {
    return std::move(steps.outcome());
  }

  recipes::ChangeSteps steps;
};

// One call of a throttle; the state alone without a count.
struct HitCall : CancellableCall {
  using Options = std::shared_ptr<const recipes::ThrottleOptions>;

  HitCall(const EngineRoom& /*room*/, Waker& /*waker*/, Options its_options, const std::string& key,
          std::uint32_t count, base::Duration wait, std::stop_token its_stop)
      : CancellableCall{std::move(its_stop)},
        options(std::move(its_options)),
        steps(*options, key, count, wait) {}
  HitCall(const EngineRoom& /*room*/, Waker& /*waker*/, Options its_options, const std::string& key)
      : options(std::move(its_options)), steps(*options, key) {}

  const Options options;
  recipes::HitSteps steps;
};

struct PassCall : HitCall {
  using HitCall::HitCall;
  [[nodiscard]] std::tuple<base::Result<bool>> take(const Room& /*room*/) {
    return steps.allowed();
  }
};

struct HitStateCall : HitCall {
  using HitCall::HitCall;
  [[nodiscard]] std::tuple<base::Result<store::HitOutcome>> take(const Room& /*room*/) {
    return std::move(steps.outcome());
  }
};

}  // namespace holdfast::async::internal
