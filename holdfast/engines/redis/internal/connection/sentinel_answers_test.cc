#include <holdfast/engines/redis/internal/connection/sentinel_answers.h>

#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::engines::redis::internal {
namespace {

using base::ErrorCode;

Reply list(std::initializer_list<const char*> texts) {
  std::vector<Reply> parts;
  for (const char* const text : texts) {
    parts.push_back(Reply::of_text(Reply::Kind::string, text));
  }
  return Reply::of_array(std::move(parts));
}

Reply error(const char* text) { return Reply::of_text(Reply::Kind::error, text); }

Reply details(const char* epoch) {
  return list({"name", "locks", "ip", "10.0.0.1", "port", "6379", "config-epoch", epoch});
}

TEST(SentinelAnswers, TellWhereTheMasterIsAndHowNewThatIs) {
  const auto master = read_master(list({"10.0.0.1", "6379"}), details("7"));
  ASSERT_TRUE(master);
  EXPECT_EQ(*master, (Master{.host = "10.0.0.1", .port = 6379, .epoch = 7}));
}

TEST(SentinelAnswers, APromotedReplicaIsNewerThanTheMasterThatItReplaces) {
  const auto master = read_master(list({"10.0.0.2", "6380"}), details("7"));
  ASSERT_TRUE(master);
  EXPECT_EQ(*master, (Master{.host = "10.0.0.2", .port = 6380, .epoch = 8}));
}

TEST(SentinelAnswers, AnUnknownNameIsNoError) {
  const auto master = read_master(Reply(), error("ERR No such master with that name"));
  ASSERT_TRUE(master);
  EXPECT_FALSE(*master);
}

TEST(SentinelAnswers, AServerThatIsNoSentinelIsRecognized) {
  const Reply refusal = error("ERR unknown command 'SENTINEL', with args beginning with: 'x'");
  const auto master = read_master(refusal, refusal);
  ASSERT_FALSE(master);
  EXPECT_EQ(master.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(master.error().message.contains("it is no Sentinel")) << master.error().message;
}

TEST(SentinelAnswers, StrangeAnswersAreRefused) {
  for (const Reply& address : {list({"10.0.0.1"}), list({"", "6379"}), list({"10.0.0.1", "0"}),
                               list({"10.0.0.1", "70000"}), list({"10.0.0.1", "x"})}) {
    EXPECT_FALSE(read_master(address, details("7")));
  }
  const Reply address = list({"10.0.0.1", "6379"});
  EXPECT_FALSE(read_master(address, details("")));
  EXPECT_FALSE(read_master(address, list({"ip"})));
  EXPECT_FALSE(read_master(address, error("ERR \033[2J")));
}

TEST(SentinelAnswers, ASwitchOfOurMasterHasItsNewAddress) {
  EXPECT_EQ(read_switch("locks 10.0.0.1 6379 10.0.0.2 6380", "locks"), "10.0.0.2:6380");
  EXPECT_EQ(read_switch("locks ::1 6379 ::2 6380", "locks"), "[::2]:6380");
  EXPECT_FALSE(read_switch("other 10.0.0.1 6379 10.0.0.2 6380", "locks"));
  EXPECT_FALSE(read_switch("locks 10.0.0.1 6379 10.0.0.2 x", "locks"));
  EXPECT_FALSE(read_switch("locks 10.0.0.1 6379 10.0.0.2 6380 more", "locks"));
  EXPECT_FALSE(read_switch("locks", "locks"));
  EXPECT_FALSE(read_switch("", "locks"));
}

TEST(SentinelAnswers, OnlyAMasterIsAMaster) {
  EXPECT_TRUE(check_is_master(list({"master", "0"})));
  for (const Reply& role : {list({"slave", "10.0.0.1"}), list({"sentinel"}), list({}), Reply(),
                            error("NOPERM this user has no permissions"), error("LOADING"),
                            error("ERR unknown command 'ROLE'")}) {
    const auto checked = check_is_master(role);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, ErrorCode::unavailable);
  }
  EXPECT_TRUE(check_is_master(error("NOPERM x")).error().message.contains("command ROLE"));
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
