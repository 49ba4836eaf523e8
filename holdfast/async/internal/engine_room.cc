#include <holdfast/async/internal/engine_room.h>

#include <utility>

namespace holdfast::async::internal {

namespace {

EngineRoom::Way way_to(store::LeaseStore& store) {
  if (store.capabilities().immediate) {
    return EngineRoom::Way::at_once;
  }
  return store.async() != nullptr ? EngineRoom::Way::direct : EngineRoom::Way::pool;
}

}  // namespace

EngineRoom::EngineRoom(std::shared_ptr<const void> the_owner, store::LeaseStore& lease_store,
                       const base::Clock& clock, const AsyncOptions& options)
    : owner(std::move(the_owner)),
      store(lease_store),
      direct(lease_store.async()),
      way(way_to(lease_store)),
      timer(clock),
      pool(options.pool_threads, options.pool_queue) {}

std::shared_ptr<EngineRoom> EngineRoom::make(std::shared_ptr<const void> the_owner,
                                             store::LeaseStore& lease_store,
                                             const base::Clock& clock,
                                             const AsyncOptions& options) {
  return {new EngineRoom(std::move(the_owner), lease_store, clock, options),
          [](const EngineRoom* room) {
            if (!room->is_inherited()) {
              delete room;
            }
          }};
}

void Background::begin() {
  const base::MutexLock lock(mutex_);
  ++count_;
}

void Background::end() {
  const base::MutexLock lock(mutex_);
  --count_;
  ended_.notify_all();
}

void Background::wait() {
  const base::MutexLock lock(mutex_);
  while (count_ > 0) {
    ended_.wait(mutex_);
  }
}

}  // namespace holdfast::async::internal
