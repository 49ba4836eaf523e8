#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/store/lease_store.h>
#include <holdfast/testing/recipe_faces.h>

namespace holdfast::testing {

// A lock handle as the provider suite sees it: the blocking functions of locks::Lock, with the same
// meaning. Its destructor returns when the destructor of the handle has finished its work.
class LockFace {
 public:
  LockFace() = default;
  LockFace(const LockFace&) = delete;
  LockFace& operator=(const LockFace&) = delete;
  virtual ~LockFace() = default;

  // The move constructor and the move assignment of the handle.
  [[nodiscard]] virtual std::unique_ptr<LockFace> move_out() = 0;
  virtual void move_in(LockFace& other) = 0;

  [[nodiscard]] virtual std::stop_token lost() const = 0;
  [[nodiscard]] virtual base::Result<void> check() const = 0;
  [[nodiscard]] virtual base::Duration time_left() const = 0;
  virtual base::Result<store::ReleaseOutcome> release() = 0;
  virtual base::LeaseId detach() = 0;
  [[nodiscard]] virtual bool holds() const = 0;
  [[nodiscard]] virtual locks::LockState state() const = 0;
  [[nodiscard]] virtual base::TimePoint acquired_at() const = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual const base::LeaseId& id() const = 0;
  [[nodiscard]] virtual const std::string& owner() const = 0;
  [[nodiscard]] virtual base::FencingToken token() const = 0;
};

// A provider as the provider suite sees it: the functions of locks::LockProvider. It may be
// destroyed while `try_acquire` runs.
class ProviderFace {
 public:
  ProviderFace() = default;
  ProviderFace(const ProviderFace&) = delete;
  ProviderFace& operator=(const ProviderFace&) = delete;
  virtual ~ProviderFace() = default;

  // Throws as locks::LockProvider::acquire does.
  [[nodiscard]] virtual std::unique_ptr<LockFace> acquire(std::string_view name,
                                                          const locks::AcquireOptions& options) = 0;
  // Returns null if the lock was not acquired.
  [[nodiscard]] virtual base::Result<std::unique_ptr<LockFace>> try_acquire(
      std::string_view name, const locks::AcquireOptions& options) = 0;
  [[nodiscard]] virtual base::Result<std::optional<store::NameState>> look(
      std::string_view name) = 0;
  // Returns the blocking face of the same provider, for functions that have no other.
  [[nodiscard]] virtual locks::LockProvider& blocking() = 0;
  // Returns the recipes on this provider, which must outlive them.
  [[nodiscard]] virtual std::unique_ptr<RecipesFace> recipes() = 0;
};

// One way to use the locks: with threads, with coroutines, …
struct Face {
  std::string name;     // of its suites, `<name>.<engine>`
  std::string recipes;  // begins the names of its recipes' suites, `<recipes><recipe>.<engine>`
  std::function<std::unique_ptr<ProviderFace>(std::shared_ptr<store::LeaseStore> store,
                                              locks::ProviderOptions options)>
      make_provider;
  std::function<std::unique_ptr<LockFace>()> make_empty_lock;
};

// Returns the face for threads: `locks`, and recipes without a beginning.
[[nodiscard]] Face blocking_face();

// A LockFace of a handle that has the functions of locks::Lock, except `release`.
template <class Handle>
class LockFaceOf : public LockFace {
 public:
  LockFaceOf() = default;
  explicit LockFaceOf(Handle handle) : handle_(std::move(handle)) {}

  void move_in(LockFace& other) override {
    handle_ = std::move(dynamic_cast<LockFaceOf&>(other).handle_);
  }
  [[nodiscard]] std::stop_token lost() const override { return handle_.lost(); }
  [[nodiscard]] base::Result<void> check() const override { return handle_.check(); }
  [[nodiscard]] base::Duration time_left() const override { return handle_.time_left(); }
  base::LeaseId detach() override { return handle_.detach(); }
  [[nodiscard]] bool holds() const override { return static_cast<bool>(handle_); }
  [[nodiscard]] locks::LockState state() const override { return handle_.state(); }
  [[nodiscard]] base::TimePoint acquired_at() const override { return handle_.acquired_at(); }
  [[nodiscard]] const std::string& name() const override { return handle_.name(); }
  [[nodiscard]] const base::LeaseId& id() const override { return handle_.id(); }
  [[nodiscard]] const std::string& owner() const override { return handle_.owner(); }
  [[nodiscard]] base::FencingToken token() const override { return handle_.token(); }

  [[nodiscard]] Handle& handle() noexcept { return handle_; }

 private:
  Handle handle_;
};

}  // namespace holdfast::testing
