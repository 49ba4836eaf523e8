#include <holdfast/async/internal/lock_operations.h>

namespace holdfast::async::internal {

namespace {

using locks::steps::AcquireSteps;

// If ten thousand begin before the first one is answered, they must not all ask the store.
AcquireSteps::Stands stands(const EngineRoom& room) {
  return room.way == EngineRoom::Way::at_once ? AcquireSteps::Stands::when_busy
                                              : AcquireSteps::Stands::at_once;
}

}  // namespace

AcquireOperation::AcquireOperation(const std::shared_ptr<EngineRoom>& room,
                                   std::shared_ptr<locks::internal::ProviderCore> core,
                                   std::string name, locks::AcquireOptions how,
                                   base::Duration default_wait)
    : Operation(room),
      core_(std::move(core)),
      name_(std::move(name)),
      how_(std::move(how)),
      steps_(*core_, name_, how_, default_wait, *this, stands(*room)) {}

AcquireOperation::~AcquireOperation() = default;

// The lock was granted after the caller had stopped waiting.
void AcquireOperation::on_unwanted() noexcept {
  auto lock = locks::steps::or_nothing(std::move(steps_.outcome()));
  if (lock && *lock) {
    ReleaseOperation::start_in_background(room(), **std::move(lock));
  }
}

void ReleaseOperation::start_in_background(const std::shared_ptr<EngineRoom>& room,
                                           locks::Lock&& lock) {  // NOLINT: it is left with nothing
  class InBackground final : public ReleaseOperation {
   public:
    using ReleaseOperation::ReleaseOperation;

   private:
    void complete(Where, const boost::asio::any_io_executor&, std::shared_ptr<Operation>) override {
    }
    void drop() noexcept override {}
  };
  // From its first step on, the handle has nothing more to release.
  Operation::start_in_background(std::make_shared<InBackground>(room, lock.hold()));
}

void ReleaseOperation::on_unwanted() noexcept { steps_.warn_if_failed(); }

}  // namespace holdfast::async::internal
