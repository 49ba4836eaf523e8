#include <holdfast/base/log.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

using Messages = std::vector<std::pair<LogLevel, std::string>>;

LogSink collect_into(Messages& messages) {
  return [&messages](LogLevel level, std::string_view text) { messages.emplace_back(level, text); };
}

TEST(Logger, PassesLevelAndTextToTheSink) {
  Messages messages;
  const Logger logger{collect_into(messages)};
  logger.debug("d");
  logger.info("i");
  logger.warn("w");
  logger.error("e");
  EXPECT_EQ(messages, (Messages{{LogLevel::debug, "d"},
                                {LogLevel::info, "i"},
                                {LogLevel::warning, "w"},
                                {LogLevel::error, "e"}}));
}

TEST(Logger, DropsMessagesBelowItsMinimum) {
  Messages messages;
  const Logger logger{collect_into(messages), LogLevel::warning};
  logger.info("i");
  logger.warn("w");
  EXPECT_FALSE(logger.enabled(LogLevel::info));
  EXPECT_TRUE(logger.enabled(LogLevel::warning));
  EXPECT_EQ(messages, (Messages{{LogLevel::warning, "w"}}));
}

TEST(Logger, IsSilentWithoutASink) {
  for (const Logger& logger : {Logger{}, Logger{LogSink{}}}) {
    EXPECT_FALSE(logger.enabled(LogLevel::error));
    logger.error("nobody hears this");
    EXPECT_EQ(logger.dropped(), 0U);
  }
}

TEST(Logger, SwallowsAndCountsExceptionsOfTheSink) {
  const Logger logger{[](LogLevel, std::string_view text) {
    if (text == "number") throw 7;
    if (text == "exception") throw std::runtime_error{"disk full"};
  }};
  Logger copy;
  copy = logger;
  logger.warn("number");
  copy.warn("exception");
  copy.warn("fine");
  EXPECT_EQ(logger.dropped(), 2U);
  EXPECT_EQ(copy.dropped(), 2U);
}

TEST(Logger, CopiesKeepTheSinkAlive) {
  const auto heard = std::make_shared<std::string>();
  Logger copy;
  {
    const Logger logger{[heard](LogLevel, std::string_view text) { *heard = text; }};
    copy = logger;
  }
  copy.info("still here");
  EXPECT_EQ(*heard, "still here");
  copy = Logger{};
  EXPECT_EQ(heard.use_count(), 1);
}

TEST(Logger, MayBeUsedFromManyThreads) {
  std::atomic<int> calls = 0;
  const Logger logger{[&](LogLevel, std::string_view) {
    if (calls.fetch_add(1) % 2 == 0) throw std::runtime_error{"every second one"};
  }};
  {
    constexpr int kThreads = 4;
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([copy = logger] {
        for (int j = 0; j < 250; ++j) copy.info("x");
      });
    }
  }
  EXPECT_EQ(calls, 1'000);
  EXPECT_EQ(logger.dropped(), 500U);
}

TEST(StderrLogger, WritesOneLinePerMessageFromItsMinimumUp) {
  ::testing::internal::CaptureStderr();
  const Logger logger = stderr_logger();
  logger.debug("unseen");
  logger.warn("renewal is late");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "holdfast warning: renewal is late\n");
}

}  // namespace
}  // namespace holdfast::base
