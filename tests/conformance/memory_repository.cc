#include <holdfast/engines/memory/memory_repository.h>

#include <chrono>
#include <memory>

#include <holdfast/base/manual_clock.h>

#include "repositories.h"

namespace holdfast::conformance {

namespace {

using engines::memory::MemoryRepository;

// The clock outlives the repository that reads it: members go in reverse order.
struct Movable {
  base::ManualClock clock;
  MemoryRepository repository{{.clock = &clock, .retention = std::chrono::hours(1)}};
};

testing::RepositoryPlace place() {
  const auto made = std::make_shared<Movable>();
  return {.open = [made] { return std::shared_ptr<MemoryRepository>(made, &made->repository); },
          .outlast_retention = [made] { made->clock.advance(std::chrono::hours(1)); }};
}

}  // namespace

testing::RepositoryUnderTest memory_repository() { return {.name = "memory", .make_place = place}; }

}  // namespace holdfast::conformance
