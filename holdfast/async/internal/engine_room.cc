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
      alarm(clock),
      pool(options.pool_threads, options.pool_queue) {}

void EngineRoom::background_begins() {
  const std::lock_guard guard(mutex_);
  ++background_;
}

void EngineRoom::background_ends() {
  const std::lock_guard guard(mutex_);
  --background_;
  ended_.notify_all();
}

void EngineRoom::wait_for_background() {
  std::unique_lock guard(mutex_);
  ended_.wait(guard, [&] { return background_ == 0; });
}

}  // namespace holdfast::async::internal
