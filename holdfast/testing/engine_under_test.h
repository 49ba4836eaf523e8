#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::testing {

// The storage of one test case: empty at first, and used by that case only. What its functions
// capture lives as long as the case. Only `open` must be set; leave empty what the engine cannot
// do, and the cases that need it are skipped.
struct Place {
  // Opens a handle on this place: a new one at each call, or the same if the data live in the
  // handle.
  std::function<std::shared_ptr<store::LeaseStore>()> open;
  // Moves the clock by which the stores of this place judge. Without it, cases use short ttls and
  // wait until the store itself reports that they have passed.
  std::function<void(base::Duration)> advance{};
  // The URL that a taker (see taker.h) in another process opens.
  std::string url{};
  // Makes the stores forget what they may forget, such as the records of released names.
  std::function<void()> clean_up{};
  // Stops and starts the server. Without it, and if the engine is durable, closing every handle and
  // opening another simulates that.
  std::function<void()> restart{};
  // Stores a foreign value under the name. The returned function tells whether that value is still
  // there, unchanged.
  std::function<std::function<bool()>(std::string_view name)> plant_foreign{};
};

// An engine as the conformance suites see it.
//
//   holdfast::testing::EngineUnderTest engine{.name = "mine", .make_place = [] {
//     auto store = std::make_shared<MyStore>();
//     return holdfast::testing::Place{.open = [store] { return store; }};
//   }};
//   holdfast::testing::register_store_suite(engine);
//   holdfast::testing::register_provider_suite(engine);
struct EngineUnderTest {
  std::string name;  // as in the suites' names: letters, digits, '_'
  std::function<Place()> make_place;
  // A place without `advance`, for cases in which real time passes: other processes, hanging
  // stores. Needed only if the places of `make_place` have `advance`.
  std::function<Place()> make_real_time_place{};
  // The program to start for the cases with several processes (see taker.h). Needed only if the
  // engine promises to exclude them.
  std::string taker{};
  // The total number of operations in the random histories.
  int random_operations = 4000;
};

}  // namespace holdfast::testing
