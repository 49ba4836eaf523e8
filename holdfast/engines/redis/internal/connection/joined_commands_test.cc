#include <initializer_list>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <holdfast/engines/redis/internal/connection/command.h>

namespace holdfast::engines::redis::internal {
namespace {

constexpr std::string_view kSha = "0123456789012345678901234567890123456789";
constexpr std::string_view kOtherSha = "9876543210987654321098765432109876543210";

template <class... Arguments>
Command script(std::string_view sha, const std::string& name, const Arguments&... arguments) {
  Command command("EVALSHA", sha, 2, name, "hf:" + name, "common", arguments...);
  command.make_joinable();
  return command;
}

std::string joined(std::initializer_list<const Command*> commands) {
  std::string bytes = "before";
  append_joined({commands.begin(), commands.size()}, bytes);
  return bytes;
}

TEST(JoinedCommands, HasTheKeysOfEachThenTheArgumentsOfEach) {
  const Command one = script(kSha, "one", "1", "uno");
  const Command two = script(kSha, "two", "2", "due");
  const Command both("EVALSHA", kSha, 4, "one", "hf:one", "two", "hf:two", "common", "1", "uno",
                     "2", "due");
  EXPECT_EQ(joined({&one, &two}), "before" + std::string(both.bytes()));
}

TEST(JoinedCommands, TakesAnyBytes) {
  const std::string odd("$3\r\n\0*", 6);
  const Command one = script(kSha, odd, odd);
  const Command two = script(kSha, "", "");
  const Command both("EVALSHA", kSha, 4, odd, "hf:" + odd, "", "hf:", "common", odd, "");
  EXPECT_EQ(joined({&one, &two}), "before" + std::string(both.bytes()));
}

TEST(JoinedCommands, LeavesOutWhatIsSaidAlone) {
  Command one = script(kSha, "one", "1");
  one.add("alone");
  const Command two = script(kSha, "two", "2");
  EXPECT_TRUE(may_be_joined(one, two));
  const Command both("EVALSHA", kSha, 4, "one", "hf:one", "two", "hf:two", "common", "1", "2");
  EXPECT_EQ(joined({&one, &two}), "before" + std::string(both.bytes()));
  EXPECT_TRUE(one.bytes().ends_with("$5\r\nalone\r\n"));
}

TEST(JoinedCommands, CountsInSeveralDigits) {
  const Command one = script(kSha, "one", "1");
  const std::string bytes = joined({&one, &one, &one, &one, &one});
  EXPECT_TRUE(bytes.starts_with("before*19\r\n$7\r\nEVALSHA\r\n$40\r\n"));
  EXPECT_TRUE(bytes.contains("$2\r\n10\r\n$3\r\none\r\n"));
}

TEST(JoinedCommands, IsOfOneScriptWithAsManyArguments) {
  const Command one = script(kSha, "one", "1");
  EXPECT_TRUE(may_be_joined(one, script(kSha, "two", "2")));
  EXPECT_FALSE(may_be_joined(one, script(kOtherSha, "two", "2")));
  EXPECT_FALSE(may_be_joined(one, script(kSha, "two", "2", "due")));
  Command with_another_in_common("EVALSHA", kSha, 2, "two", "hf:two", "own", "2");
  with_another_in_common.make_joinable();
  EXPECT_FALSE(may_be_joined(one, with_another_in_common));
  const Command alone("EVALSHA", kSha, 2, "two", "hf:two", "common", "2");
  EXPECT_FALSE(may_be_joined(one, alone));
  EXPECT_FALSE(may_be_joined(alone, one));
  EXPECT_FALSE(may_be_joined(Command("PING"), Command("PING")));
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
