#include <holdfast/testing/provider_face.h>

#include <utility>

#include <holdfast/base/try.h>

namespace holdfast::testing {

namespace {

using base::Result;
using locks::Lock;
using locks::LockProvider;

class BlockingLock final : public LockFaceOf<Lock> {
 public:
  using LockFaceOf::LockFaceOf;

  std::unique_ptr<LockFace> move_out() override {
    return std::make_unique<BlockingLock>(std::move(handle()));
  }
  Result<store::ReleaseOutcome> release() override { return handle().release(); }
};

class BlockingProvider final : public ProviderFace {
 public:
  BlockingProvider(std::shared_ptr<store::LeaseStore> store, locks::ProviderOptions options)
      : provider_(std::move(store), std::move(options)) {}

  std::unique_ptr<LockFace> acquire(std::string_view name,
                                    const locks::AcquireOptions& options) override {
    return std::make_unique<BlockingLock>(provider_.acquire(name, options));
  }
  Result<std::unique_ptr<LockFace>> try_acquire(std::string_view name,
                                                const locks::AcquireOptions& options) override {
    HOLDFAST_TRY_LET(auto lock, provider_.try_acquire(name, options));
    return lock ? std::make_unique<BlockingLock>(*std::move(lock)) : nullptr;
  }
  Result<std::optional<store::NameState>> look(std::string_view name) override {
    return provider_.look(name);
  }
  LockProvider& blocking() override { return provider_; }

 private:
  LockProvider provider_;
};

}  // namespace

Face blocking_face() {
  return {.name = "locks",
          .make_provider =
              [](std::shared_ptr<store::LeaseStore> store, locks::ProviderOptions options) {
                return std::make_unique<BlockingProvider>(std::move(store), std::move(options));
              },
          .make_empty_lock = [] { return std::make_unique<BlockingLock>(); }};
}

}  // namespace holdfast::testing
