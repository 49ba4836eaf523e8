#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <holdfast/async/async_options.h>
#include <holdfast/async/blocking_pool.h>
#include <holdfast/async/internal/timer.h>
#include <holdfast/base/clock.h>
#include <holdfast/base/mutex.h>
#include <holdfast/base/process_mark.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::async::internal {

// A counter of the operations in the background. Thread-safe.
class Background {
 public:
  void begin();
  void end();
  void wait();

 private:
  base::Mutex mutex_;
  base::ConditionVariable ended_;
  std::size_t count_ HOLDFAST_GUARDED_BY(mutex_) = 0;
};

// The state that the operations on one store share. Thread-safe; each of them keeps it alive.
//
// In a forked child it is never destroyed: its threads do not exist there, and a mutex may be
// locked for ever.
class EngineRoom {
 public:
  // The path of requests to this store.
  enum class Way : std::uint8_t {
    at_once,  // in the calling thread: the store is immediate
    direct,   // through AsyncLeaseStore
    pool,     // in a thread of the pool
  };

  // The owner keeps the store alive; the clock must outlive the room.
  [[nodiscard]] static std::shared_ptr<EngineRoom> make(std::shared_ptr<const void> the_owner,
                                                        store::LeaseStore& lease_store,
                                                        const base::Clock& clock,
                                                        const AsyncOptions& options);

  // Returns whether this is a forked child: nothing of the room may be touched.
  [[nodiscard]] bool is_inherited() const noexcept { return process_.is_inherited(); }
  // Blocks until no operation is in the background, and none that was keeps the room alive. Each
  // ends by the deadline of its request.
  void wait_for_background() { background->wait(); }

  const std::shared_ptr<const void> owner;  // first: destroyed last
  store::LeaseStore& store;
  store::AsyncLeaseStore* const direct;  // null if the engine cannot
  const Way way;
  Timer timer;
  BlockingPool pool;
  const std::shared_ptr<Background> background = std::make_shared<Background>();

 private:
  EngineRoom(std::shared_ptr<const void> the_owner, store::LeaseStore& lease_store,
             const base::Clock& clock, const AsyncOptions& options);
  ~EngineRoom() = default;

  const base::ProcessMark process_;
};

}  // namespace holdfast::async::internal
