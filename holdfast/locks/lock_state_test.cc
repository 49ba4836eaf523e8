#include <holdfast/locks/lock_state.h>

#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::locks {
namespace {

TEST(LockState, PrintsAsItsName) {
  std::ostringstream out;
  out << LockState::acquired << ' ' << LockState::extending << ' ' << LockState::lost << ' '
      << LockState::released;
  EXPECT_EQ(out.str(), "acquired extending lost released");
#ifdef __cpp_lib_format
  EXPECT_EQ(std::format("{:>6}", LockState::lost), "  lost");
#endif
}

}  // namespace
}  // namespace holdfast::locks
