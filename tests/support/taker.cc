// The taker of the cases with several processes, for the engines of this tree.
#include <holdfast/testing/taker.h>

#include <holdfast/engines/open_store.h>

int main(int argc, char** argv) {
  return holdfast::testing::taker_main(
      argc, argv, [](std::string_view url) { return holdfast::engines::open_store(url); });
}
