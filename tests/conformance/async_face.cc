#include <memory>
#include <string>
#include <utility>

#include <holdfast/base/try.h>
#include <holdfast/testing/recipes_of.h>

#include "async_face.h"
#include "coroutines.h"

namespace holdfast::conformance {

namespace {

using base::Result;
using testing::LockFace;

class CoroutineProvider final : public testing::ProviderFace {
 public:
  CoroutineProvider(std::shared_ptr<store::LeaseStore> store, locks::ProviderOptions options)
      : provider_(std::move(store), std::move(options)) {}

  std::unique_ptr<LockFace> acquire(std::string_view name,
                                    const locks::AcquireOptions& options) override {
    const Coroutines way(provider_);  // the provider may end meanwhile
    return way.face(way.run([&] { return provider_.acquire(std::string(name), options); }));
  }
  Result<std::unique_ptr<LockFace>> try_acquire(std::string_view name,
                                                const locks::AcquireOptions& options) override {
    const Coroutines way(provider_);
    HOLDFAST_TRY_LET(auto lock,
                     way.run([&] { return provider_.try_acquire(std::string(name), options); }));
    return lock ? way.face(*std::move(lock)) : nullptr;
  }
  Result<std::optional<store::NameState>> look(std::string_view name) override {
    return Coroutines::run([&] { return provider_.look(std::string(name)); });
  }
  locks::LockProvider& blocking() override { return provider_.blocking(); }
  std::unique_ptr<testing::RecipesFace> recipes() override {
    return std::make_unique<testing::RecipesOf<Coroutines>>(Coroutines(provider_));
  }

 private:
  async::AsyncLockProvider provider_;
};

}  // namespace

testing::Face async_face() {
  return {.name = "async",
          .recipes = "async_",
          .make_provider =
              [](std::shared_ptr<store::LeaseStore> store, locks::ProviderOptions options) {
                return std::make_unique<CoroutineProvider>(std::move(store), std::move(options));
              },
          .make_empty_lock = [] { return std::make_unique<CoroutineLock>(); }};
}

}  // namespace holdfast::conformance
