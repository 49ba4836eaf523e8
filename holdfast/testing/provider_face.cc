#include <holdfast/testing/provider_face.h>

#include <utility>

#include <holdfast/base/try.h>
#include <holdfast/recipes/multi_lock.h>
#include <holdfast/recipes/reader_writer_lock.h>
#include <holdfast/recipes/semaphore.h>
#include <holdfast/recipes/throttle.h>
#include <holdfast/testing/recipes_of.h>

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

// The way of threads, for RecipesOf.
class Threads {
 public:
  using Provider = LockProvider;
  using Lock = locks::Lock;
  using ReaderWriterLock = recipes::ReaderWriterLock;
  using Semaphore = recipes::Semaphore;
  using MultiLock = recipes::MultiLock;
  using Throttle = recipes::Throttle;
  using LeaderElection = recipes::LeaderElection;
  using Once = recipes::Once;
  using Marker = recipes::Marker;
  using Mark = recipes::MarkGuard;
  using DegradableProvider = recipes::DegradableProvider;
  using DegradableLock = recipes::DegradableLock;

  explicit Threads(Provider& provider) : provider_(&provider) {}

  [[nodiscard]] Provider& provider() const { return *provider_; }
  [[nodiscard]] static Threads of(Provider& provider) { return Threads(provider); }
  template <class Call>
  static auto run(const Call& call) {
    return call();
  }
  [[nodiscard]] static std::unique_ptr<LockFace> face(Lock lock) {
    return std::make_unique<BlockingLock>(std::move(lock));
  }
  template <class Handle>
  static void end(Handle /*handle*/) {}
  static void settle() {}
  template <class Work>
  static const Work& lock_work(const Work& work) {
    return work;
  }
  template <class Work>
  static const Work& term_work(const Work& work) {
    return work;
  }
  static MultiLock acquire_all(Provider& provider, const std::vector<std::string>& names,
                               const locks::AcquireOptions& options) {
    return recipes::acquire_all(provider, names, options);
  }
  static Result<std::optional<MultiLock>> try_acquire_all(Provider& provider,
                                                          const std::vector<std::string>& names,
                                                          const locks::AcquireOptions& options) {
    return recipes::try_acquire_all(provider, names, options);
  }
  static Result<std::uint32_t> hits(Throttle& throttle, const std::string& key) {
    return throttle.hits(key);
  }
  static Result<bool> is_throttled(Throttle& throttle, const std::string& key) {
    return throttle.is_throttled(key);
  }
  static Result<base::Duration> retry_after(Throttle& throttle, const std::string& key) {
    return throttle.retry_after(key);
  }

 private:
  Provider* provider_;
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
  std::unique_ptr<RecipesFace> recipes() override {
    return std::make_unique<RecipesOf<Threads>>(Threads(provider_));
  }

 private:
  LockProvider provider_;
};

}  // namespace

Face blocking_face() {
  return {.name = "locks",
          .recipes = "",
          .make_provider =
              [](std::shared_ptr<store::LeaseStore> store, locks::ProviderOptions options) {
                return std::make_unique<BlockingProvider>(std::move(store), std::move(options));
              },
          .make_empty_lock = [] { return std::make_unique<BlockingLock>(); }};
}

}  // namespace holdfast::testing
