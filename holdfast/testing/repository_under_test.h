#pragma once

#include <functional>
#include <memory>
#include <string>

#include <holdfast/store/object_repository.h>

namespace holdfast::testing {

// The storage of one test case: empty at first, and used by that case only. What its functions
// capture lives as long as the case. Only `open` must be set; leave empty what the engine cannot
// do, and the cases that need it are skipped.
struct RepositoryPlace {
  // Opens a handle on this place: a new one at each call, or the same if the data live in the
  // handle.
  std::function<std::shared_ptr<store::ObjectRepository>()> open;
  // The URL that a saver (see saver.h) in another process opens.
  std::string url{};
  // Stop the server from answering, and let it answer again.
  std::function<void()> hang{};
  std::function<void()> go_on{};
  // Stops the server and starts it again; `keeps_data` says whether it still has its data.
  std::function<void()> restart{};
  bool keeps_data = false;
  // Waits until the time is over for which the repository remembers tokens without data.
  std::function<void()> outlast_retention{};
  // Stores a foreign value in an object's place. The returned function tells whether that value is
  // still there, unchanged.
  std::function<std::function<bool()>(const store::ObjectKey& key)> plant_foreign{};
};

// A repository as the conformance suite sees it.
//
//   holdfast::testing::RepositoryUnderTest mine{.name = "mine", .make_place = [] {
//     auto repository = std::make_shared<MyRepository>();
//     return holdfast::testing::RepositoryPlace{.open = [repository] { return repository; }};
//   }};
//   holdfast::testing::register_repository_suite(mine);
struct RepositoryUnderTest {
  std::string name;  // as in the suite's name: letters, digits, '_'
  std::function<RepositoryPlace()> make_place;
  // A place with `hang` or `restart`, if the places of `make_place` share a server that these would
  // disturb.
  std::function<RepositoryPlace()> make_frail_place{};
  // The program to start for the cases with several processes (see saver.h).
  std::string saver{};
};

}  // namespace holdfast::testing
