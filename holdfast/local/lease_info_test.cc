#include <holdfast/local/lease_info.h>

#include <sstream>

#include <gtest/gtest.h>

#include <holdfast/local/key_stats.h>

namespace holdfast::local {
namespace {

using namespace std::chrono_literals;

template <class T>
std::string streamed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST(LeaseInfo, IsReadableInALog) {
  const LeaseInfo info{
      .key = "invoice:42", .owner = "worker-7", .token = base::FencingToken(3), .time_left = 29s};
  EXPECT_EQ(to_string(info),
            R"(LeaseInfo { key = "invoice:42", owner = "worker-7", token = 3, time_left = 29s })");
  EXPECT_EQ(streamed(info), to_string(info));
}

TEST(KeyState, IsReadableInALog) {
  const KeyState state{.key = "k", .readers = 2, .waiting_exclusive = 1};
  EXPECT_EQ(to_string(state),
            R"(KeyState { key = "k", exclusive = false, readers = 2, waiting_exclusive = 1, )"
            R"(waiting_shared = 0 })");
  EXPECT_EQ(streamed(state), to_string(state));
}

#ifdef __cpp_lib_format
TEST(LeaseInfo, CanBeFormatted) {
  EXPECT_EQ(std::format("{}", base::FencingToken(3)), "3");
  EXPECT_EQ(std::format("{}", KeyState{.key = "k"}), to_string(KeyState{.key = "k"}));
}
#endif

}  // namespace
}  // namespace holdfast::local
