#include <holdfast/recipes/internal/circuit.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>

namespace holdfast::recipes::internal {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;

class CircuitTest : public ::testing::Test {
 protected:
  void fail(int times) {
    for (int i = 0; i < times; ++i) {
      circuit.on_failure({ErrorCode::unavailable, "nobody there"});
    }
  }

  base::ManualClock clock;
  std::vector<std::string> said;
  std::map<std::string, int> counted;
  Circuit circuit{{.failures = 2, .retry_after = 4s},
                  clock,
                  base::Logger([this](base::LogLevel level, std::string_view text) {
                    said.push_back(std::string(to_string(level)) + ": " + std::string(text));
                  }),
                  {.count = [this](std::string_view counter, std::string_view, std::uint64_t) {
                    ++counted[std::string(counter)];
                  }}};
};

using Circuits = CircuitTest;

TEST_F(Circuits, LogAndCountEachChangeOnce) {
  fail(5);
  EXPECT_EQ(counted["breaker_opened"], 1);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(said[0].starts_with("warning: the lock store is unavailable")) << said[0];
  EXPECT_TRUE(said[0].ends_with("unavailable: nobody there")) << said[0];
  clock.advance(5s);
  EXPECT_TRUE(circuit.admit());
  EXPECT_EQ(counted["breaker_probed"], 1);
  circuit.on_answer();
  circuit.on_answer();
  EXPECT_EQ(counted["breaker_closed"], 1);
  ASSERT_EQ(said.size(), 3U);
  EXPECT_EQ(said[2], "info: the lock store is back, after 5s: locks protect again");
}

TEST_F(Circuits, NotifyWaitersWhenTheyOpen) {
  const std::stop_token first = circuit.next_opening();
  fail(1);
  EXPECT_FALSE(first.stop_requested());
  fail(1);
  EXPECT_TRUE(first.stop_requested());
  const std::stop_token second = circuit.next_opening();
  EXPECT_FALSE(second.stop_requested());
  clock.advance(5s);
  EXPECT_TRUE(circuit.admit());
  fail(1);
  EXPECT_TRUE(second.stop_requested());
}

TEST_F(Circuits, AdmitOneProbeOfManyThreads) {
  fail(2);
  clock.advance(5s);
  std::atomic<int> admitted = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] { admitted += circuit.admit() ? 1 : 0; });
    }
  }
  EXPECT_EQ(admitted, 1);
  EXPECT_EQ(circuit.state(), CircuitState::half_open);
}

}  // namespace
}  // namespace holdfast::recipes::internal
