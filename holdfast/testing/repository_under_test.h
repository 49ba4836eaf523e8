#pragma once

#include <functional>
#include <memory>
#include <string>

#include <holdfast/store/object_repository.h>

namespace holdfast::testing {

// Where the objects of one test case are: empty at first, and its own. What its functions capture
// is kept as long as the case runs. Only `open` must be set; what an engine cannot do stays empty,
// and the cases that need it are skipped.
struct RepositoryPlace {
  // A handle on this place: another one at each call, or the same where the data live in the
  // handle.
  std::function<std::shared_ptr<store::ObjectRepository>()> open;
  // What a saver (see saver.h) in another process opens.
  std::string url{};
  // Lets nobody get an answer, and everybody again.
  std::function<void()> hang{};
  std::function<void()> go_on{};
  // Stops the server and starts it again, and whether it still has what it had.
  std::function<void()> restart{};
  bool keeps_data = false;
  // Lets the time for which the repository remembers tokens without data pass.
  std::function<void()> outlast_retention{};
  // Puts something that is not Holdfast's in an object's place. The function that it returns says
  // whether that is still there, unchanged.
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
  // A place with `hang` or `restart`, if those of `make_place` share what these would hurt.
  std::function<RepositoryPlace()> make_frail_place{};
  // The program to start for the cases with several processes (see saver.h).
  std::string saver{};
};

}  // namespace holdfast::testing
