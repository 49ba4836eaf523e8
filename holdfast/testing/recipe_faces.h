#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/base/ttl.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/recipes/degradable_provider.h>
#include <holdfast/recipes/leader.h>
#include <holdfast/recipes/leader_election.h>
#include <holdfast/recipes/mark_guard.h>
#include <holdfast/recipes/marker.h>
#include <holdfast/recipes/once.h>
#include <holdfast/recipes/throttle_options.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::testing {

class LockFace;

// The recipes as their suites see them. A face has the blocking functions of the class in recipes/,
// with the same meaning; a function that ends a handle returns when all work of that is done.
//
// RecipesOf (recipes_of.h) makes all of them of the classes of one way to use the locks.
class AnyFace {
 public:
  AnyFace() = default;
  AnyFace(const AnyFace&) = delete;
  AnyFace& operator=(const AnyFace&) = delete;
  virtual ~AnyFace() = default;
};

// Null if the lock was not acquired.
using MaybeLockFace = base::Result<std::unique_ptr<LockFace>>;

// A lock that another handle holds; it must outlive this.
struct LockView {
  std::string name;
  base::LeaseId id;
  base::FencingToken token;
  std::function<base::Result<void>()> check;
};

class ReaderWriterFace : public AnyFace {
 public:
  virtual std::unique_ptr<LockFace> acquire_shared(const locks::AcquireOptions& options) = 0;
  virtual MaybeLockFace try_acquire_shared(const locks::AcquireOptions& options) = 0;
  virtual std::unique_ptr<LockFace> acquire_exclusive(const locks::AcquireOptions& options) = 0;
  virtual MaybeLockFace try_acquire_exclusive(const locks::AcquireOptions& options) = 0;
  virtual base::Result<void> downgrade(LockFace& lock) = 0;
};

class SemaphoreFace : public AnyFace {
 public:
  virtual std::unique_ptr<LockFace> acquire(std::uint32_t permits,
                                            const locks::AcquireOptions& options) = 0;
  virtual MaybeLockFace try_acquire(std::uint32_t permits,
                                    const locks::AcquireOptions& options) = 0;
  virtual std::unique_ptr<LockFace> drain(const locks::AcquireOptions& options) = 0;
  virtual base::Result<void> reduce(LockFace& lock, std::uint32_t permits) = 0;
  virtual base::Result<std::uint32_t> available() = 0;
};

class MultiLockFace : public AnyFace {
 public:
  [[nodiscard]] virtual std::unique_ptr<MultiLockFace> move_out() = 0;
  [[nodiscard]] virtual std::vector<LockView> locks() const = 0;
  [[nodiscard]] virtual std::stop_token lost() const = 0;
  [[nodiscard]] virtual base::Result<void> check() const = 0;
  virtual base::Result<store::ReleaseOutcome> release() = 0;
};

class ThrottleFace : public AnyFace {
 public:
  virtual base::Result<bool> try_pass(const std::string& key, std::uint32_t count = 1) = 0;
  virtual base::Result<bool> pass(const std::string& key, base::Duration wait,
                                  const std::stop_token& stop = {}) = 0;
  virtual base::Result<std::uint32_t> hits(const std::string& key) = 0;
  virtual base::Result<bool> is_throttled(const std::string& key) = 0;
  virtual base::Result<base::Duration> retry_after(const std::string& key) = 0;
};

class ElectionFace : public AnyFace {
 public:
  virtual MaybeLockFace campaign(const locks::AcquireOptions& options) = 0;
  virtual base::Result<void> lead(const std::function<void(const recipes::Term& term)>& work,
                                  const locks::AcquireOptions& options) = 0;
  virtual base::Result<std::optional<recipes::Leader>> leader() = 0;
  virtual base::Result<std::optional<recipes::Leader>> wait_for_change(
      std::optional<base::FencingToken> known, base::Duration wait,
      const std::stop_token& stop = {}) = 0;
};

class OnceFace : public AnyFace {
 public:
  virtual base::Result<recipes::OnceOutcome> run(
      const std::string& key, const std::function<void(const LockView& lock)>& work) = 0;
  virtual base::Result<recipes::OnceOutcome> attempt(
      const std::string& key, const std::function<bool(const LockView& lock)>& work) = 0;
};

class MarkFace : public AnyFace {
 public:
  // The move constructor and the move assignment of the handle.
  [[nodiscard]] virtual std::unique_ptr<MarkFace> move_out() = 0;
  virtual void move_in(MarkFace& other) = 0;

  virtual base::Result<store::RenewOutcome> extend(base::Ttl ttl) = 0;
  virtual base::Result<recipes::ClearOutcome> clear() = 0;
  virtual void keep() = 0;
  [[nodiscard]] virtual bool holds() const = 0;
};

class MarkerFace : public AnyFace {
 public:
  virtual base::Result<void> mark(const std::string& key, base::Ttl ttl) = 0;
  // Returns null if the key is marked already.
  virtual base::Result<std::unique_ptr<MarkFace>> try_mark(const std::string& key,
                                                           base::Ttl ttl) = 0;
  virtual base::Result<recipes::ClearOutcome> clear(const std::string& key) = 0;
  virtual base::Result<bool> is_marked(const std::string& key) = 0;
  virtual base::Result<std::optional<base::Duration>> time_left(const std::string& key) = 0;
};

class DegradableLockFace : public AnyFace {
 public:
  [[nodiscard]] virtual recipes::Protection protection() const = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual std::stop_token lost() const = 0;
  [[nodiscard]] virtual base::Result<void> check() const = 0;
  [[nodiscard]] virtual std::optional<base::FencingToken> token() const = 0;
  virtual base::Result<store::ReleaseOutcome> release() = 0;
  [[nodiscard]] virtual bool holds() const = 0;
};

class DegradableFace : public AnyFace {
 public:
  virtual std::unique_ptr<DegradableLockFace> acquire(const std::string& name,
                                                      const locks::AcquireOptions& options) = 0;
  // Returns null if the lock was not acquired.
  virtual base::Result<std::unique_ptr<DegradableLockFace>> try_acquire(
      const std::string& name, const locks::AcquireOptions& options) = 0;
  [[nodiscard]] virtual recipes::CircuitState state() const = 0;
  // Return how many locks are held on the store, and how many callers wait for them.
  [[nodiscard]] virtual std::size_t held() = 0;
  [[nodiscard]] virtual std::size_t waiting() = 0;
};

// The recipes on one provider, or on a store of their own. They throw what their classes throw.
class RecipesFace : public AnyFace {
 public:
  virtual std::unique_ptr<ReaderWriterFace> reader_writer(const std::string& name) = 0;
  virtual std::unique_ptr<SemaphoreFace> semaphore(const std::string& name,
                                                   std::uint32_t capacity) = 0;
  virtual std::unique_ptr<MultiLockFace> acquire_all(const std::vector<std::string>& names,
                                                     const locks::AcquireOptions& options) = 0;
  // Returns null if one of the names was not acquired.
  virtual base::Result<std::unique_ptr<MultiLockFace>> try_acquire_all(
      const std::vector<std::string>& names, const locks::AcquireOptions& options) = 0;
  virtual std::unique_ptr<MultiLockFace> empty_multi_lock() = 0;
  virtual std::unique_ptr<ElectionFace> election(const std::string& name) = 0;
  virtual std::unique_ptr<OnceFace> once(const recipes::OnceOptions& options) = 0;
  virtual std::unique_ptr<MarkerFace> marker(const recipes::MarkerOptions& options) = 0;
  virtual std::unique_ptr<ThrottleFace> throttle(std::shared_ptr<store::LeaseStore> store,
                                                 const recipes::ThrottleOptions& options) = 0;
  virtual std::unique_ptr<DegradableFace> degradable(
      std::shared_ptr<store::LeaseStore> store, const recipes::DegradationOptions& options) = 0;
};

}  // namespace holdfast::testing
