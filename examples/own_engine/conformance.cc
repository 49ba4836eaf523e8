// Runs the conformance suites of Holdfast against the engine of this example.
#include <chrono>
#include <memory>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/store/key_value_store.h>
#include <holdfast/testing/provider_suite.h>
#include <holdfast/testing/store_suite.h>

#include "map_values.h"

namespace {

using namespace std::chrono_literals;
namespace store = holdfast::store;
namespace testing_kit = holdfast::testing;

// The storage of one test, and a clock that the test moves. Two handles share the storage and the
// bus, as two processes would.
struct Storage {
  holdfast::base::ManualClock clock;
  std::shared_ptr<own_engine::MapValues> values = std::make_shared<own_engine::MapValues>(clock);
  std::shared_ptr<own_engine::ProcessBus> bus = std::make_shared<own_engine::ProcessBus>();
};

testing_kit::Place movable_place() {
  const auto storage = std::make_shared<Storage>();
  storage->clock.advance(24h * 365 * 50);  // a storage counts from 1970
  const auto open = [storage] {
    return store::make_key_value_store(storage->values, storage->bus, {.retention = 1us});
  };
  return {.open = [storage, open] { return open(); },
          .advance = [storage](holdfast::base::Duration by) { storage->clock.advance(by); },
          .clean_up = [open] { (void)holdfast::base::value_or_throw(open()->sweep()); }};
}

testing_kit::Place real_time_place() {
  const auto values = std::make_shared<own_engine::MapValues>(holdfast::base::steady_clock());
  const auto bus = std::make_shared<own_engine::ProcessBus>();
  return {.open = [values, bus] { return store::make_key_value_store(values, bus); }};
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const testing_kit::EngineUnderTest engine{
      .name = "own_engine", .make_place = movable_place, .make_real_time_place = real_time_place};
  testing_kit::register_store_suite(engine);
  testing_kit::register_provider_suite(engine);
  return RUN_ALL_TESTS();
}
