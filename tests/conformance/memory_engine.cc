#include <memory>

#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/memory/memory_store.h>

#include "engines.h"

namespace holdfast::conformance {

namespace {

using engines::memory::MemoryStore;

// The clock outlives the store that reads it: members go in reverse order.
struct MovableStore {
  base::ManualClock clock;
  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>(
      engines::memory::MemoryOptions{.clock = &clock, .sweep_every = {}});
};

testing::Place movable_place() {
  const auto place = std::make_shared<MovableStore>();
  return {.open = [place] { return std::shared_ptr<MemoryStore>(place, place->store.get()); },
          .advance = [place](base::Duration by) { place->clock.advance(by); },
          .clean_up = [place] { place->store->sweep_now(); }};
}

testing::Place real_time_place() {
  auto store = std::make_shared<MemoryStore>();
  return {.open = [store] { return store; }, .clean_up = [store] { store->sweep_now(); }};
}

}  // namespace

testing::EngineUnderTest memory_engine() {
  return {.name = "memory", .make_place = movable_place, .make_real_time_place = real_time_place};
}

}  // namespace holdfast::conformance
