#include <holdfast/recipes/semaphore.h>

#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>
#include <tests/recipes/processes.h>
#include <tests/support/redis_server.h>

#include <holdfast/engines/open_store.h>

namespace holdfast::tests {
namespace {

constexpr int kProcesses = 64;
constexpr std::uint32_t kCapacity = 3;
constexpr int kRounds = 10;

struct Pool {
  std::atomic<std::uint32_t> inside = 0;
  std::atomic<std::uint32_t> most = 0;
  std::atomic<int> entered = 0;
};

void enter_and_leave(Pool& pool) {
  const std::uint32_t now = ++pool.inside;
  for (auto seen = pool.most.load(); now > seen && !pool.most.compare_exchange_weak(seen, now);) {
  }
  // The first ones stay until it is full.
  if (!eventually([&] { return pool.most >= kCapacity; })) {
    throw std::runtime_error("the semaphore is never full");
  }
  ++pool.entered;
  --pool.inside;
}

void expect_exactly_the_capacity(const std::string& url) {
  const Shared<Pool> pool;
  const int failed = failures_among(kProcesses, [&](int) {
    locks::LockProvider provider(base::value_or_throw(engines::open_store(url)));
    recipes::Semaphore semaphore(provider, "pool", kCapacity);
    for (int round = 0; round < kRounds; ++round) {
      const auto lock = semaphore.acquire(1, {.ttl = std::chrono::minutes(10), .wait = kPatience});
      enter_and_leave(*pool);
    }
  });
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(pool->entered, kProcesses * kRounds);
  EXPECT_EQ(pool->most, kCapacity);
}

TEST(SemaphoreCrowd, SixtyFourProcessesOnSqliteAreThreeAtATime) {
  const SqliteFile file;
  expect_exactly_the_capacity(file.url());
}

TEST(SemaphoreCrowd, SixtyFourProcessesOnRedisAreThreeAtATime) {
  const RedisServer server;
  expect_exactly_the_capacity(server.url());
}

}  // namespace
}  // namespace holdfast::tests
