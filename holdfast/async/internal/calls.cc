#include <holdfast/async/internal/calls.h>

#include <holdfast/async/internal/procedure_operation.h>

namespace holdfast::async::internal {

namespace {

using locks::steps::AcquireSteps;

// If ten thousand begin before the first one is answered, they must not all ask the store.
AcquireSteps::Joins joins(const EngineRoom& room) {
  return room.way == EngineRoom::Way::at_once ? AcquireSteps::Joins::when_busy
                                              : AcquireSteps::Joins::at_once;
}

struct NoHandler {
  void operator()(const auto&... /*outcome*/) const noexcept {}
};

}  // namespace

AcquireCall::AcquireCall(const EngineRoom& room, Waker& waker,
                         std::shared_ptr<locks::ProviderCore> its_core, std::string its_name,
                         locks::AcquireOptions its_options, base::Duration default_wait)
    : CancellableCall{its_options.stop},
      core(std::move(its_core)),
      name(std::move(its_name)),
      how(std::move(its_options)),
      steps(*core, name, how, default_wait, waker, joins(room)) {}

void AcquireCall::on_unwanted(const Room& room) noexcept {
  if (auto& lock = steps.outcome(); lock && *lock) {
    release_in_background(room, **std::move(lock));
  }
}

void release_in_background(const Room& room,
                           locks::Lock&& lock) {  // NOLINT: it is left with nothing
  // From its first step on, the handle has nothing more to release.
  Operation::start_in_background(
      std::make_shared<ProcedureOperation<ReleaseCall, NoHandler>>(NoHandler(), room, lock.hold()));
}

}  // namespace holdfast::async::internal
