#include <holdfast/recipes/multi_lock.h>

#include <array>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <tests/recipes/processes.h>

#include <holdfast/engines/memory/memory_store.h>

namespace holdfast::tests {
namespace {

constexpr std::size_t kThreads = 16;
constexpr std::size_t kRounds = 10'000;  // of each
constexpr std::size_t kNames = 4;

// Two providers, as of two processes, on one store: threads meet in the line of a provider and in
// the store.
TEST(MultiLockCrowd, OppositeOrdersFromSixteenThreadsNeverDeadlockAndCountExactly) {
  const auto store = std::make_shared<engines::memory::MemoryStore>();
  locks::LockProvider one(store);
  locks::LockProvider other(store);
  std::array<std::size_t, kNames> counts{};  // each protected by the lock of its name
  std::array<std::size_t, kNames> expected{};
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    for (std::size_t round = 0; round < kRounds; ++round) {
      ++expected[(i + round) % kNames];
      ++expected[(i + round + 1 + i % 3) % kNames];
    }
  }
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      locks::LockProvider& provider = i % 2 == 0 ? one : other;
      for (std::size_t round = 0; round < kRounds; ++round) {
        const std::size_t first = (i + round) % kNames;
        const std::size_t second = (first + 1 + i % 3) % kNames;
        const auto both = recipes::acquire_all(
            provider, {std::to_string(first), std::to_string(second)}, {.wait = kPatience});
        ++counts[first];
        ++counts[second];
      }
    });
  }
  threads.clear();
  EXPECT_EQ(counts, expected);
  EXPECT_EQ(store->size(), 0U);
}

}  // namespace
}  // namespace holdfast::tests
