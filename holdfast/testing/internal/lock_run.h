#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/testing/internal/case_run.h>
#include <holdfast/testing/provider_face.h>
#include <holdfast/testing/recipe_faces.h>

namespace holdfast::testing::internal {

// A lock of the face under test, with the interface of locks::Lock.
class LockUnderTest {
 public:
  LockUnderTest();
  explicit LockUnderTest(std::unique_ptr<LockFace> face) : face_(std::move(face)) {}
  LockUnderTest(LockUnderTest&& other) : face_(other.face_->move_out()) {}  // NOLINT: may throw
  LockUnderTest& operator=(LockUnderTest&& other) {                         // NOLINT: may throw
    face_->move_in(*other.face_);
    return *this;
  }
  ~LockUnderTest() = default;

  [[nodiscard]] std::stop_token lost() const { return face_->lost(); }
  [[nodiscard]] base::Result<void> check() const { return face_->check(); }
  [[nodiscard]] base::Duration time_left() const { return face_->time_left(); }
  base::Result<store::ReleaseOutcome> release() { return face_->release(); }
  base::LeaseId detach() { return face_->detach(); }
  [[nodiscard]] bool holds() const { return face_->holds(); }
  explicit operator bool() const { return holds(); }
  [[nodiscard]] locks::LockState state() const { return face_->state(); }
  [[nodiscard]] base::TimePoint acquired_at() const { return face_->acquired_at(); }
  [[nodiscard]] const std::string& name() const { return face_->name(); }
  [[nodiscard]] const base::LeaseId& id() const { return face_->id(); }
  [[nodiscard]] const std::string& owner() const { return face_->owner(); }
  [[nodiscard]] base::FencingToken token() const { return face_->token(); }

 private:
  std::unique_ptr<LockFace> face_;
};

// A provider of the face under test, with the interface of locks::LockProvider.
class ProviderUnderTest {
 public:
  using MaybeLock = base::Result<std::optional<LockUnderTest>>;

  explicit ProviderUnderTest(std::unique_ptr<ProviderFace> face) : face_(std::move(face)) {}

  [[nodiscard]] LockUnderTest acquire(std::string_view name, const locks::AcquireOptions& options);
  [[nodiscard]] MaybeLock try_acquire(std::string_view name, const locks::AcquireOptions& options);
  [[nodiscard]] base::Result<std::optional<store::NameState>> look(std::string_view name) {
    return face_->look(name);
  }
  [[nodiscard]] base::Result<bool> is_locked(std::string_view name);
  [[nodiscard]] base::Result<store::RenewOutcome> renew(std::string_view name,
                                                        const base::LeaseId& id, base::Ttl ttl) {
    return face_->blocking().renew(name, id, ttl);
  }
  [[nodiscard]] base::Result<store::ReleaseOutcome> release(std::string_view name,
                                                            const base::LeaseId& id) {
    return face_->blocking().release(name, id);
  }
  [[nodiscard]] store::LeaseStore& store() const { return face_->blocking().store(); }
  [[nodiscard]] std::size_t held() const { return face_->blocking().held(); }
  [[nodiscard]] std::size_t waiting() const { return face_->blocking().waiting(); }
  [[nodiscard]] RecipesFace& recipes() const { return *recipes_; }

 private:
  std::unique_ptr<ProviderFace> face_;
  std::unique_ptr<RecipesFace> recipes_ = face_->recipes();
};

// A CaseRun with providers, which use one face.
class LockRun : public CaseRun {
 public:
  LockRun(const EngineUnderTest& engine, const Face& face, Place place);

  // Returns a provider on `network()`.
  [[nodiscard]] ProviderUnderTest& provider() { return *provider_; }
  // Returns the recipes on that provider.
  [[nodiscard]] RecipesFace& recipes() const { return provider_->recipes(); }
  // Returns a provider as in another process: with its own handle, without faults.
  [[nodiscard]] std::unique_ptr<ProviderUnderTest> another_provider(
      locks::ProviderOptions options = {});
  // Returns a provider on `network()`.
  [[nodiscard]] std::unique_ptr<ProviderUnderTest> provider_with(locks::ProviderOptions options);
  void destroy_provider() { provider_.reset(); }

 private:
  const Face face_;
  std::unique_ptr<ProviderUnderTest> provider_;
};

// Returns the lock, a handle or a pointer to a face; anything else ends the case with an exception.
template <class Maybe>
[[nodiscard]] auto must_have(base::Result<Maybe> outcome) {
  auto lock = base::value_or_throw(std::move(outcome));
  if (!lock) {
    throw std::runtime_error("the lock was busy");
  }
  if constexpr (requires { lock.value(); }) {
    return *std::move(lock);
  } else {
    return lock;
  }
}
// Returns whether it was busy; an error ends the case.
template <class Maybe>
[[nodiscard]] bool is_busy(const base::Result<Maybe>& outcome) {
  if (!outcome) {
    base::throw_error(outcome.error());
  }
  return !*outcome;
}

struct LockCase {
  const char* name;
  void (*run)(LockRun& run);
  CaseTime time = CaseTime::movable;
};

// Each has one theme, in the file of that name in lock_cases/.
std::span<const LockCase> acquire_cases();
std::span<const LockCase> wait_cases();
std::span<const LockCase> crowd_cases();
std::span<const LockCase> handle_cases();
std::span<const LockCase> keeping_cases();
std::span<const LockCase> fault_cases();
std::span<const LockCase> process_cases();

}  // namespace holdfast::testing::internal
