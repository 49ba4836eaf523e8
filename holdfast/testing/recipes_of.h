#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/testing/provider_face.h>
#include <holdfast/testing/recipe_faces.h>

namespace holdfast::testing {

// The faces of all recipes of one way to use the locks: `recipes::` with threads, `async::` with
// coroutines. `Way` is copied. It names the classes:
//
//   Provider, Lock, ReaderWriterLock, Semaphore, MultiLock, Throttle, LeaderElection, Once, Marker,
//   Mark, DegradableProvider, DegradableLock
//
// and has the functions:
//
//   provider()         returns the provider, which must outlive the faces
//   of(provider)       returns the same way with another provider
//   run(call)          runs the call to its end, and returns its result or throws what it throws
//   face(lock)         returns a LockFace of the lock
//   end(handle)        destroys the handle, and returns when all work of that is done
//   settle()           returns when no work is done in the background
//   lock_work(work)    returns the function as work of Once
//   term_work(work)    returns the function as work of LeaderElection
//   acquire_all(…), try_acquire_all(…), hits(throttle, key), is_throttled(…), retry_after(…)
template <class Way>
class RecipesOf;

namespace internal {

template <class Lock>
LockView view_of(const Lock& lock) {
  return {lock.name(), lock.id(), lock.token(), [&lock] { return lock.check(); }};
}

template <class Way>
MaybeLockFace face_of(const Way& way, base::Result<std::optional<typename Way::Lock>> lock) {
  if (!lock) {
    return std::unexpected(std::move(lock).error());
  }
  return *lock ? way.face(**std::move(lock)) : nullptr;
}

template <class Way>
typename Way::Lock& handle_of(LockFace& lock) {
  return dynamic_cast<LockFaceOf<typename Way::Lock>&>(lock).handle();
}

template <class Way>
class ReaderWriterOf final : public ReaderWriterFace {
 public:
  ReaderWriterOf(Way way, const std::string& name)
      : way_(std::move(way)), lock_(way_.provider(), name) {}

  std::unique_ptr<LockFace> acquire_shared(const locks::AcquireOptions& options) override {
    return way_.face(way_.run([&] { return lock_.acquire_shared(options); }));
  }
  MaybeLockFace try_acquire_shared(const locks::AcquireOptions& options) override {
    return face_of(way_, way_.run([&] { return lock_.try_acquire_shared(options); }));
  }
  std::unique_ptr<LockFace> acquire_exclusive(const locks::AcquireOptions& options) override {
    return way_.face(way_.run([&] { return lock_.acquire_exclusive(options); }));
  }
  MaybeLockFace try_acquire_exclusive(const locks::AcquireOptions& options) override {
    return face_of(way_, way_.run([&] { return lock_.try_acquire_exclusive(options); }));
  }
  base::Result<void> downgrade(LockFace& lock) override {
    return way_.run([&] { return Way::ReaderWriterLock::downgrade(handle_of<Way>(lock)); });
  }

 private:
  const Way way_;
  typename Way::ReaderWriterLock lock_;
};

template <class Way>
class SemaphoreOf final : public SemaphoreFace {
 public:
  SemaphoreOf(Way way, const std::string& name, std::uint32_t capacity)
      : way_(std::move(way)), semaphore_(way_.provider(), name, capacity) {}

  std::unique_ptr<LockFace> acquire(std::uint32_t permits,
                                    const locks::AcquireOptions& options) override {
    return way_.face(way_.run([&] { return semaphore_.acquire(permits, options); }));
  }
  MaybeLockFace try_acquire(std::uint32_t permits, const locks::AcquireOptions& options) override {
    return face_of(way_, way_.run([&] { return semaphore_.try_acquire(permits, options); }));
  }
  std::unique_ptr<LockFace> drain(const locks::AcquireOptions& options) override {
    return way_.face(way_.run([&] { return semaphore_.drain(options); }));
  }
  base::Result<void> reduce(LockFace& lock, std::uint32_t permits) override {
    return way_.run([&] { return handle_of<Way>(lock).reduce(permits); });
  }
  base::Result<std::uint32_t> available() override {
    return way_.run([&] { return semaphore_.available(); });
  }

 private:
  const Way way_;
  typename Way::Semaphore semaphore_;
};

template <class Way>
class MultiLockOf final : public MultiLockFace {
 public:
  MultiLockOf(Way way, typename Way::MultiLock all) : way_(std::move(way)), all_(std::move(all)) {}
  ~MultiLockOf() override { way_.end(std::move(all_)); }

  std::unique_ptr<MultiLockFace> move_out() override {
    return std::make_unique<MultiLockOf>(way_, std::move(all_));
  }
  std::vector<LockView> locks() const override {
    std::vector<LockView> views;
    for (const auto& lock : all_.locks()) views.push_back(view_of(lock));
    return views;
  }
  std::stop_token lost() const override { return all_.lost(); }
  base::Result<void> check() const override { return all_.check(); }
  base::Result<store::ReleaseOutcome> release() override {
    return way_.run([&] { return all_.release(); });
  }

 private:
  const Way way_;
  typename Way::MultiLock all_;
};

template <class Way>
class ThrottleOf final : public ThrottleFace {
 public:
  ThrottleOf(Way way, std::shared_ptr<store::LeaseStore> store,
             const recipes::ThrottleOptions& options)
      : way_(std::move(way)), throttle_(std::move(store), options) {}

  base::Result<bool> try_pass(const std::string& key, std::uint32_t count) override {
    return way_.run([&] { return throttle_.try_pass(key, count); });
  }
  base::Result<bool> pass(const std::string& key, base::Duration wait,
                          const std::stop_token& stop) override {
    return way_.run([&] { return throttle_.pass(key, wait, stop); });
  }
  base::Result<std::uint32_t> hits(const std::string& key) override {
    return way_.hits(throttle_, key);
  }
  base::Result<bool> is_throttled(const std::string& key) override {
    return way_.is_throttled(throttle_, key);
  }
  base::Result<base::Duration> retry_after(const std::string& key) override {
    return way_.retry_after(throttle_, key);
  }

 private:
  const Way way_;
  typename Way::Throttle throttle_;
};

template <class Way>
class ElectionOf final : public ElectionFace {
 public:
  ElectionOf(Way way, const std::string& name)
      : way_(std::move(way)), election_(way_.provider(), name) {}

  MaybeLockFace campaign(const locks::AcquireOptions& options) override {
    return face_of(way_, way_.run([&] { return election_.campaign(options); }));
  }
  base::Result<void> lead(const std::function<void(const recipes::Term& term)>& work,
                          const locks::AcquireOptions& options) override {
    return way_.run([&] { return election_.lead(Way::term_work(work), options); });
  }
  base::Result<std::optional<recipes::Leader>> leader() override {
    return way_.run([&] { return election_.leader(); });
  }
  base::Result<std::optional<recipes::Leader>> wait_for_change(
      std::optional<base::FencingToken> known, base::Duration wait,
      const std::stop_token& stop) override {
    return way_.run([&] { return election_.wait_for_change(known, wait, stop); });
  }

 private:
  const Way way_;
  typename Way::LeaderElection election_;
};

template <class Way>
class OnceOf final : public OnceFace {
 public:
  using Lock = typename Way::Lock;

  OnceOf(Way way, const recipes::OnceOptions& options)
      : way_(std::move(way)), once_(way_.provider(), options) {}

  base::Result<recipes::OnceOutcome> run(
      const std::string& key, const std::function<void(const LockView& lock)>& work) override {
    const auto view = [&work](const Lock& lock) { work(view_of(lock)); };
    return way_.run([&] { return once_.run(key, Way::lock_work(view)); });
  }
  base::Result<recipes::OnceOutcome> attempt(
      const std::string& key, const std::function<bool(const LockView& lock)>& work) override {
    const auto view = [&work](const Lock& lock) { return work(view_of(lock)); };
    return way_.run([&] { return once_.attempt(key, Way::lock_work(view)); });
  }

 private:
  const Way way_;
  typename Way::Once once_;
};

template <class Way>
class MarkOf final : public MarkFace {
 public:
  MarkOf(Way way, typename Way::Mark mark) : way_(std::move(way)), mark_(std::move(mark)) {}
  ~MarkOf() override { way_.end(std::move(mark_)); }

  std::unique_ptr<MarkFace> move_out() override {
    return std::make_unique<MarkOf>(way_, std::move(mark_));
  }
  void move_in(MarkFace& other) override {
    mark_ = std::move(dynamic_cast<MarkOf&>(other).mark_);
    way_.settle();
  }
  base::Result<store::RenewOutcome> extend(base::Ttl ttl) override {
    return way_.run([&] { return mark_.extend(ttl); });
  }
  base::Result<recipes::ClearOutcome> clear() override {
    return way_.run([&] { return mark_.clear(); });
  }
  void keep() override { mark_.keep(); }
  bool holds() const override { return mark_.holds(); }

 private:
  const Way way_;
  typename Way::Mark mark_;
};

template <class Way>
class MarkerOf final : public MarkerFace {
 public:
  MarkerOf(Way way, const recipes::MarkerOptions& options)
      : way_(std::move(way)), marker_(way_.provider(), options) {}

  base::Result<void> mark(const std::string& key, base::Ttl ttl) override {
    return way_.run([&] { return marker_.mark(key, ttl); });
  }
  base::Result<std::unique_ptr<MarkFace>> try_mark(const std::string& key, base::Ttl ttl) override {
    auto mark = way_.run([&] { return marker_.try_mark(key, ttl); });
    if (!mark) {
      return std::unexpected(std::move(mark).error());
    }
    return *mark ? std::make_unique<MarkOf<Way>>(way_, **std::move(mark)) : nullptr;
  }
  base::Result<recipes::ClearOutcome> clear(const std::string& key) override {
    return way_.run([&] { return marker_.clear(key); });
  }
  base::Result<bool> is_marked(const std::string& key) override {
    return way_.run([&] { return marker_.is_marked(key); });
  }
  base::Result<std::optional<base::Duration>> time_left(const std::string& key) override {
    return way_.run([&] { return marker_.time_left(key); });
  }

 private:
  const Way way_;
  typename Way::Marker marker_;
};

template <class Way>
class DegradableLockOf final : public DegradableLockFace {
 public:
  DegradableLockOf(Way way, typename Way::DegradableLock lock)
      : way_(std::move(way)), name_(lock.name()), lock_(std::move(lock)) {}
  ~DegradableLockOf() override { way_.end(std::move(lock_)); }

  recipes::Protection protection() const override { return lock_.protection(); }
  const std::string& name() const override { return name_; }
  std::stop_token lost() const override { return lock_.lost(); }
  base::Result<void> check() const override { return lock_.check(); }
  std::optional<base::FencingToken> token() const override { return lock_.token(); }
  base::Result<store::ReleaseOutcome> release() override {
    return way_.run([&] { return lock_.release(); });
  }
  bool holds() const override { return lock_.holds(); }

 private:
  const Way way_;
  const std::string name_;
  typename Way::DegradableLock lock_;
};

template <class Way>
class DegradableOf final : public DegradableFace {
 public:
  DegradableOf(const Way& way, std::shared_ptr<store::LeaseStore> store,
               const recipes::DegradationOptions& options)
      : provider_(std::move(store), options), way_(way.of(provider_.shared())) {}

  std::unique_ptr<DegradableLockFace> acquire(const std::string& name,
                                              const locks::AcquireOptions& options) override {
    return face(way_.run([&] { return provider_.acquire(name, options); }));
  }
  base::Result<std::unique_ptr<DegradableLockFace>> try_acquire(
      const std::string& name, const locks::AcquireOptions& options) override {
    auto lock = way_.run([&] { return provider_.try_acquire(name, options); });
    if (!lock) {
      return std::unexpected(std::move(lock).error());
    }
    return *lock ? face(**std::move(lock)) : nullptr;
  }
  recipes::CircuitState state() const override { return provider_.state(); }
  std::size_t held() override { return provider_.shared().held(); }
  std::size_t waiting() override { return provider_.shared().waiting(); }

 private:
  std::unique_ptr<DegradableLockFace> face(typename Way::DegradableLock lock) const {
    return std::make_unique<DegradableLockOf<Way>>(way_, std::move(lock));
  }

  typename Way::DegradableProvider provider_;
  const Way way_;  // on the shared provider
};

}  // namespace internal

template <class Way>
class RecipesOf final : public RecipesFace {
 public:
  explicit RecipesOf(Way way) : way_(std::move(way)) {}

  std::unique_ptr<ReaderWriterFace> reader_writer(const std::string& name) override {
    return std::make_unique<internal::ReaderWriterOf<Way>>(way_, name);
  }
  std::unique_ptr<SemaphoreFace> semaphore(const std::string& name,
                                           std::uint32_t capacity) override {
    return std::make_unique<internal::SemaphoreOf<Way>>(way_, name, capacity);
  }
  std::unique_ptr<MultiLockFace> acquire_all(const std::vector<std::string>& names,
                                             const locks::AcquireOptions& options) override {
    return face(way_.run([&] { return Way::acquire_all(way_.provider(), names, options); }));
  }
  base::Result<std::unique_ptr<MultiLockFace>> try_acquire_all(
      const std::vector<std::string>& names, const locks::AcquireOptions& options) override {
    auto all = way_.run([&] { return Way::try_acquire_all(way_.provider(), names, options); });
    if (!all) {
      return std::unexpected(std::move(all).error());
    }
    return *all ? face(**std::move(all)) : nullptr;
  }
  std::unique_ptr<MultiLockFace> empty_multi_lock() override { return face({}); }
  std::unique_ptr<ElectionFace> election(const std::string& name) override {
    return std::make_unique<internal::ElectionOf<Way>>(way_, name);
  }
  std::unique_ptr<OnceFace> once(const recipes::OnceOptions& options) override {
    return std::make_unique<internal::OnceOf<Way>>(way_, options);
  }
  std::unique_ptr<MarkerFace> marker(const recipes::MarkerOptions& options) override {
    return std::make_unique<internal::MarkerOf<Way>>(way_, options);
  }
  std::unique_ptr<ThrottleFace> throttle(std::shared_ptr<store::LeaseStore> store,
                                         const recipes::ThrottleOptions& options) override {
    return std::make_unique<internal::ThrottleOf<Way>>(way_, std::move(store), options);
  }
  std::unique_ptr<DegradableFace> degradable(std::shared_ptr<store::LeaseStore> store,
                                             const recipes::DegradationOptions& options) override {
    return std::make_unique<internal::DegradableOf<Way>>(way_, std::move(store), options);
  }

 private:
  std::unique_ptr<MultiLockFace> face(typename Way::MultiLock all) const {
    return std::make_unique<internal::MultiLockOf<Way>>(way_, std::move(all));
  }

  const Way way_;
};

}  // namespace holdfast::testing
