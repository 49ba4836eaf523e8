#include <holdfast/engines/redis/internal/connection/server_errors.h>

#include <string>

#include <gtest/gtest.h>

#include <holdfast/engines/redis/internal/check_options.h>

namespace holdfast::engines::redis::internal {
namespace {

using base::ErrorCode;
using namespace std::chrono_literals;

base::Error failure(const std::string& text) {
  return failure_of(Reply::of_text(Reply::Kind::error, text));
}

TEST(Failure, ASentinelIsNoServerForLocksAndTheMessageSaysWhatToDo) {
  const base::Error error = failure("ERR unknown command 'EVALSHA', with args beginning with: ");
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_NE(error.message.find("redis+sentinel://host:26379/mymaster"), std::string::npos)
      << error.message;
}

TEST(Failure, ASlotThatIsMovingMayBeTriedAgain) {
  EXPECT_EQ(failure("TRYAGAIN Multiple keys request during rehashing of slot").code,
            ErrorCode::unavailable);
}

TEST(Options, AreCheckedAgainstTheLimitsThatTheirHeaderNames) {
  EXPECT_TRUE(check_options({}));
  for (const RedisOptions& options :
       {RedisOptions{.tls = TlsOptions{.certificate_file = "alone.pem"}},
        RedisOptions{.retention = -1ms}, RedisOptions{.yield_every = -1ms},
        RedisOptions{.connect_timeout = 0ms}, RedisOptions{.reply_timeout = -1ms},
        RedisOptions{.max_pending = 0}, RedisOptions{.max_pending_bytes = 0}}) {
    const auto valid = check_options(options);
    ASSERT_FALSE(valid);
    EXPECT_EQ(valid.error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
