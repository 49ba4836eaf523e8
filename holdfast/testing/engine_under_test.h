#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::testing {

// Where the leases of one test case are: empty at first, and its own. What its functions capture is
// kept as long as the case runs. Only `open` must be set; what an engine cannot do stays empty, and
// the cases that need it are skipped.
struct Place {
  // A handle on this place: another one at each call, or the same where the data live in the
  // handle.
  std::function<std::shared_ptr<store::LeaseStore>()> open;
  // Moves the clock by which the stores of this place judge. Without it, cases use short ttls and
  // wait until the store itself says that they have passed.
  std::function<void(base::Duration)> advance{};
  // What a taker (see taker.h) in another process opens.
  std::string url{};
  // Makes the stores forget what they may forget, such as the records of released names.
  std::function<void()> clean_up{};
  // Stops and starts the server. Without it, and if the engine is durable, closing every handle and
  // opening another stands for it.
  std::function<void()> restart{};
  // Puts something that is not Holdfast's under the name. The function that it returns says whether
  // that is still there, unchanged.
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
  // stores. Needed only if those of `make_place` have it.
  std::function<Place()> make_real_time_place{};
  // The program to start for the cases with several processes (see taker.h). Needed only if the
  // engine promises to exclude them.
  std::string taker{};
  // How many operations the random histories have together.
  int random_operations = 4000;
};

}  // namespace holdfast::testing
