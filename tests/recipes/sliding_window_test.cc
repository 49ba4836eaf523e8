#include <array>
#include <atomic>

#include <gtest/gtest.h>
#include <tests/recipes/history.h>
#include <tests/recipes/processes.h>
#include <tests/support/redis_server.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/recipes/throttle.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

constexpr int kProcesses = 4;
constexpr std::size_t kHits = 10'000;

struct History {
  std::atomic<std::size_t> count = 0;
  std::array<RecordedHit, kHits> hits{};
};

// Passes as often as it can until the history is full.
void hit_until_full(recipes::Throttle& throttle, History& history) {
  const base::Clock& clock = base::steady_clock();  // one for all processes
  while (history.count < kHits) {
    const base::TimePoint asked = clock.now();
    const bool passed = base::value_or_throw(throttle.try_pass("key"));
    const base::TimePoint answered = clock.now();
    if (!passed) {
      std::this_thread::sleep_for(500us);
      continue;
    }
    if (const std::size_t place = history.count++; place < kHits) {
      history.hits[place] = {asked, answered};
    }
  }
}

void expect_never_more_in_any_period(const std::string& url, std::uint32_t limit,
                                     base::Duration period) {
  const Shared<History> history;
  const int failed = failures_among(kProcesses, [&](int) {
    recipes::Throttle throttle(
        base::value_or_throw(engines::open_store(url)),
        {.limit = limit, .period = period, .window = store::Window::sliding, .timeout = kPatience});
    hit_until_full(throttle, *history);
  });
  EXPECT_EQ(failed, 0);
  ASSERT_GE(history->count, kHits);
  EXPECT_LE(most_in_one_period(history->hits, period), limit);
}

TEST(SlidingWindow, TenThousandHitsOfFourProcessesOnSqliteKeepTheLimit) {
  const SqliteFile file;
  expect_never_more_in_any_period(file.url(), 250, 100ms);
}

TEST(SlidingWindow, TenThousandHitsOfFourProcessesOnRedisKeepTheLimit) {
  const RedisServer server;
  expect_never_more_in_any_period(server.url(), 250, 100ms);
}

TEST(SlidingWindow, ALimitThatIsCountedInStepsIsKeptToo) {
  const RedisServer server;
  expect_never_more_in_any_period(server.url(), 1'000, 400ms);
}

}  // namespace
}  // namespace holdfast::tests
