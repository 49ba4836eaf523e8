#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/temporary_folder.h>

#include "bench/scale/page.h"

namespace holdfast::bench_scale {
namespace {

const PageRow kRow{.name = "a", .figure = "a call, ns", .size = "objects", .growth = "flat"};
const std::vector<Point> kPoints{{.size = 10, .value = 1.5}, {.size = 1000, .value = 20}};

TEST(Page, ARowHasFourColumnsForItsSizes) {
  EXPECT_EQ(to_markdown(kRow, kPoints),
            "| `a` | a call, ns | 10 objects: 1.5 | 1,000: 20 | | | flat |");
}

TEST(Page, ARowIsReplacedAndTheRestStays) {
  EXPECT_EQ(with_row("# Page\n\n| `ab` | x |\n| `a` | old | 1 |\nText on `a`.\n", kRow, kPoints),
            "# Page\n\n| `ab` | x |\n" + to_markdown(kRow, kPoints) + "\nText on `a`.\n");
  EXPECT_THROW(static_cast<void>(with_row("# Page\n", kRow, kPoints)), std::invalid_argument);
}

TEST(Page, IsWrittenToItsFile) {
  const tests::TemporaryFolder folder;
  const auto file = folder / "page.md";
  EXPECT_THROW(write_row(file, kRow, kPoints), std::runtime_error);
  std::ofstream(file) << "\n| `a` |";
  write_row(file, kRow, kPoints);
  std::ifstream in(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "\n" + to_markdown(kRow, kPoints));
}

}  // namespace
}  // namespace holdfast::bench_scale
