#include <memory>

#include <gtest/gtest.h>
#include <tests/support/redis_client.h>
#include <tests/support/redis_server.h>

#include <holdfast/fence/redis_guard.h>

namespace holdfast::tests {
namespace {

class RedisScripts : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<RedisServer>(); }
  static void TearDownTestSuite() { server_.reset(); }
  RedisScripts() { client.run({"FLUSHALL"}); }

  std::string check(const std::string& token) {
    return client.run({"EVAL", std::string(fence::redis_check_script().text), "1", "fence", token});
  }

  static inline std::unique_ptr<RedisServer> server_;
  RedisClient client{server_->port()};
};

TEST_F(RedisScripts, SayWhetherATokenIsAcceptedAndWhichIsTheNewest) {
  EXPECT_EQ(check("5"), "[1 5]");
  EXPECT_EQ(check("7"), "[1 7]");
  EXPECT_EQ(check("6"), "[0 7]");
  EXPECT_EQ(check("7"), "[1 7]");
  EXPECT_EQ(client.run({"GET", "fence"}), "7");
  EXPECT_EQ(client.run({"TTL", "fence"}), "-1");
}

TEST_F(RedisScripts, AreKnownToTheServerByTheirSha) {
  for (const fence::Script& script : {fence::redis_check_script(), fence::redis_set_script()}) {
    EXPECT_EQ(client.run({"SCRIPT", "LOAD", std::string(script.text)}), script.sha);
  }
  EXPECT_EQ(
      client.run({"EVALSHA", std::string(fence::redis_check_script().sha), "1", "fence", "7"}),
      "[1 7]");
}

TEST_F(RedisScripts, TakeDecimalDigitsOf64BitsAndNothingElse) {
  EXPECT_EQ(check("0"), "[1 0]");
  EXPECT_EQ(check("7"), "[1 7]");
  for (const char* const token :
       {"", "-1", "08", " 8", "8 ", "8.0", "8e3", "0x8", "eight", "nan", "18446744073709551616",
        "99999999999999999999", "100000000000000000000"}) {
    const std::string said = check(token);
    EXPECT_NE(said.find("not a fencing token"), std::string::npos) << token << ": " << said;
  }
  EXPECT_EQ(client.run({"GET", "fence"}), "7") << "nothing was changed";
}

TEST_F(RedisScripts, RejectATokenFromTheFarFutureByTheServersClockAndRememberNothing) {
  EXPECT_EQ(check("7"), "[1 7]");
  const long long now = std::stoll(client.run({"TIME"}).substr(1));
  constexpr long long kFurthest = 366 * 86'400LL;
  for (const std::string& token :
       {std::string("18446744073709551615"), std::string("9223372036854775807"),
        std::to_string(now + kFurthest + 3600) + "000000"}) {
    const std::string said = check(token);
    EXPECT_NE(said.find("366 days ahead"), std::string::npos) << token << ": " << said;
  }
  EXPECT_EQ(check("8"), "[1 8]");
  const std::string near = std::to_string(now + kFurthest - 3600) + "000001";
  EXPECT_EQ(check(near), "[1 " + near + "]");
}

TEST_F(RedisScripts, LeaveAForeignValueAlone) {
  client.run({"SET", "fence", "something else"});
  EXPECT_NE(check("7").find("not a fencing token"), std::string::npos);
  EXPECT_EQ(client.run({"GET", "fence"}), "something else");
  client.run({"DEL", "fence"});
  client.run({"HSET", "fence", "a", "b"});
  EXPECT_TRUE(check("7").find("WRONGTYPE") != std::string::npos) << check("7");
}

TEST_F(RedisScripts, AFunctionGuardsScriptsOfOnesOwn) {
  const std::string script = std::string(fence::redis_fence_function()) +
                             "local accepted, newest = fence_check(KEYS[1], ARGV[1])\n"
                             "if not accepted then return {0, newest} end\n"
                             "return {1, redis.call('INCRBY', KEYS[2], ARGV[2])}\n";
  const auto add = [&](const char* token) {
    return client.run({"EVAL", script, "2", "fence", "sum", token, "10"});
  };
  EXPECT_EQ(add("7"), "[1 10]");
  EXPECT_EQ(add("6"), "[0 7]");
  EXPECT_EQ(add("7"), "[1 20]");
}

}  // namespace
}  // namespace holdfast::tests
