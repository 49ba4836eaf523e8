#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/async/async_lock_provider.h>
#include <holdfast/async/degradable_provider.h>
#include <holdfast/async/leader_election.h>
#include <holdfast/async/marker.h>
#include <holdfast/async/multi_lock.h>
#include <holdfast/async/once.h>
#include <holdfast/async/reader_writer_lock.h>
#include <holdfast/async/semaphore.h>
#include <holdfast/async/throttle.h>
#include <holdfast/base/try.h>
#include <holdfast/testing/provider_face.h>

#include "one_thread.h"

namespace holdfast::conformance {

// The way of coroutines, for testing::RecipesOf: each call is a coroutine that runs to its end.
class Coroutines {
 public:
  using Provider = async::AsyncLockProvider;
  using Lock = async::AsyncLock;
  using ReaderWriterLock = async::AsyncReaderWriterLock;
  using Semaphore = async::AsyncSemaphore;
  using MultiLock = async::AsyncMultiLock;
  using Throttle = async::AsyncThrottle;
  using LeaderElection = async::AsyncLeaderElection;
  using Once = async::AsyncOnce;
  using Marker = async::AsyncMarker;
  using Mark = async::AsyncMark;
  using DegradableProvider = async::AsyncDegradableProvider;
  using DegradableLock = async::AsyncDegradableLock;

  explicit Coroutines(Provider& provider) : provider_(&provider), room_(provider.room()) {}

  [[nodiscard]] Provider& provider() const { return *provider_; }
  [[nodiscard]] static Coroutines of(Provider& provider) { return Coroutines(provider); }

  template <class Call>
  static auto run(Call call) {
    return OneThread::the().run(std::move(call));
  }
  // The handle ends with the scope of a coroutine; the provider may have ended before.
  template <class Handle>
  void end(Handle handle) const {
    run([&handle] { return end_scope(std::move(handle)); });
    settle();
  }
  void settle() const { room_->wait_for_background(); }
  [[nodiscard]] std::unique_ptr<testing::LockFace> face(Lock lock) const;

  // The work blocks; a coroutine may not.
  template <class Work>
  static auto lock_work(const Work& work) {
    return [work](const Lock& lock) {
      return OneThread::the().elsewhere([work, &lock] { return work(lock); });
    };
  }
  template <class Work>
  static auto term_work(const Work& work) {
    return [work](recipes::Term term) {
      return OneThread::the().elsewhere([work, term = std::move(term)] { work(term); });
    };
  }

  static auto acquire_all(Provider& provider, const std::vector<std::string>& names,
                          const locks::AcquireOptions& options) {
    return async::acquire_all(provider, names, options);
  }
  static auto try_acquire_all(Provider& provider, const std::vector<std::string>& names,
                              const locks::AcquireOptions& options) {
    return async::try_acquire_all(provider, names, options);
  }
  static base::Result<std::uint32_t> hits(Throttle& throttle, const std::string& key) {
    HOLDFAST_TRY_LET(const auto state, run([&] { return throttle.state(key); }));
    return state.hits;
  }
  static base::Result<bool> is_throttled(Throttle& throttle, const std::string& key) {
    HOLDFAST_TRY_LET(const auto state, run([&] { return throttle.state(key); }));
    return !state.allowed;
  }
  static base::Result<base::Duration> retry_after(Throttle& throttle, const std::string& key) {
    HOLDFAST_TRY_LET(const auto state, run([&] { return throttle.state(key); }));
    return state.retry_after;
  }

 private:
  template <class Handle>
  static asio::awaitable<void> end_scope(Handle) {
    co_return;
  }

  Provider* provider_;
  std::shared_ptr<async::internal::EngineRoom> room_;
};

// A lock of coroutines.
class CoroutineLock final : public testing::LockFaceOf<async::AsyncLock> {
 public:
  CoroutineLock() = default;
  CoroutineLock(const Coroutines& way, async::AsyncLock lock)
      : LockFaceOf(std::move(lock)), way_(way) {}
  ~CoroutineLock() override;

  std::unique_ptr<LockFace> move_out() override;
  void move_in(LockFace& other) override;
  base::Result<store::ReleaseOutcome> release() override;

 private:
  std::optional<Coroutines> way_;  // nullopt for a handle that was never granted a lease
};

}  // namespace holdfast::conformance
