#include <holdfast/testing/internal/lock_run.h>

#include <holdfast/base/try.h>

namespace holdfast::testing::internal {

namespace {

// The function of the running case: there is one at a time.
std::function<std::unique_ptr<LockFace>()>& make_empty_lock() {
  static std::function<std::unique_ptr<LockFace>()> make;
  return make;
}

}  // namespace

LockUnderTest::LockUnderTest() : face_(make_empty_lock()()) {}

LockUnderTest ProviderUnderTest::acquire(std::string_view name,
                                         const locks::AcquireOptions& options) {
  return LockUnderTest(face_->acquire(name, options));
}

ProviderUnderTest::MaybeLock ProviderUnderTest::try_acquire(std::string_view name,
                                                            const locks::AcquireOptions& options) {
  HOLDFAST_TRY_LET(auto lock, face_->try_acquire(name, options));
  return lock != nullptr ? std::optional(LockUnderTest(std::move(lock))) : std::nullopt;
}

base::Result<bool> ProviderUnderTest::is_locked(std::string_view name) {
  const auto state = look(name);
  return state ? base::Result<bool>(state->has_value()) : std::unexpected(state.error());
}

LockRun::LockRun(const EngineUnderTest& engine, const Face& face, Place place)
    : CaseRun(engine, std::move(place)), face_(face), provider_(provider_with({})) {
  make_empty_lock() = face.make_empty_lock;
}

std::unique_ptr<ProviderUnderTest> LockRun::another_provider(locks::ProviderOptions options) {
  return std::make_unique<ProviderUnderTest>(
      face_.make_provider(place().open(), with_clock(std::move(options))));
}

std::unique_ptr<ProviderUnderTest> LockRun::provider_with(locks::ProviderOptions options) {
  return std::make_unique<ProviderUnderTest>(
      face_.make_provider(shared_network(), with_clock(std::move(options))));
}

}  // namespace holdfast::testing::internal
