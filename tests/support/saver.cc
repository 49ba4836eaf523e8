// The saver of the cases with several processes, for the engines of this tree.
#include <holdfast/testing/saver.h>

#include <holdfast/engines/open_repository.h>

int main(int argc, char** argv) {
  return holdfast::testing::saver_main(
      argc, argv, [](std::string_view url) { return holdfast::engines::open_repository(url); });
}
