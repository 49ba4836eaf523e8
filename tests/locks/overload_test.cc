// Requests beyond a limit take no memory: the heap of this program is counted.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>
#include <tests/support/patience.h>
#include <tests/support/redis_server.h>

#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/engines/redis/redis_store.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/testing/faulty_store.h>

namespace {

std::atomic<std::int64_t> live_bytes = 0;

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  live_bytes += static_cast<std::int64_t>(::malloc_usable_size(memory));
  return memory;
}
void operator delete(void* memory) noexcept {
  live_bytes -= static_cast<std::int64_t>(::malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::Deadline;
using base::ErrorCode;
using testing::FaultyStore;
using testing::Operation;

// Far less than the names of the calls have together.
constexpr std::int64_t kLittle = std::int64_t{512} * 1024;

std::string name_of(int i) { return std::string(500, 'n') + std::to_string(i); }

// Calls with so many names, then with many more: the second part takes no more memory.
template <class Call>
void expect_bounded(int first, int more, const Call& call) {
  for (int i = 0; i < first; ++i) {
    call(i);
  }
  const std::int64_t before = live_bytes;
  for (int i = first; i < first + more; ++i) {
    call(i);
  }
  EXPECT_LT(live_bytes - before, kLittle);
}

TEST(Overload, CommandsBeyondMaxPendingTakeNoMemory) {
  constexpr std::size_t kMaxPending = 64;
  RedisServer server;
  const auto store = base::value_or_throw(engines::redis::open_store({.host = "127.0.0.1",
                                                                      .port = server.port(),
                                                                      .reply_timeout = 1h,
                                                                      .max_pending = kMaxPending}));
  EXPECT_TRUE(store->look("connects"));
  server.suspend();
  std::atomic<std::size_t> answered = 0;
  std::atomic<std::size_t> refused = 0;
  expect_bounded(1000, 10'000, [&](int i) {
    store->async()->look(name_of(i), Deadline::after(base::steady_clock(), 1h),
                         [&](const auto& state) {
                           ++answered;
                           refused += !state && state.error().code == ErrorCode::limit_exceeded;
                         });
  });
  EXPECT_EQ(refused, 11'000 - kMaxPending);
  server.resume();
  EXPECT_TRUE(eventually([&] { return answered == 11'000; }));
}

TEST(Overload, WaitersBeyondTheLimitTakeNoMemory) {
  constexpr std::size_t kMostWaiters = 4;
  locks::LockProvider provider(std::make_shared<engines::memory::MemoryStore>(),
                               {.max_waiters_per_name = kMostWaiters});
  locks::Lock lock = provider.acquire("job");
  std::vector<std::jthread> waiters;
  for (std::size_t i = 0; i < kMostWaiters; ++i) {
    waiters.emplace_back([&] { (void)provider.acquire("job"); });
  }
  EXPECT_TRUE(eventually([&] { return provider.waiting() == kMostWaiters; }));
  expect_bounded(100, 10'000, [&](int) {
    const auto refused = provider.try_acquire("job", {.wait = 1h});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
  });
  EXPECT_EQ(provider.waiting(), kMostWaiters);
  EXPECT_TRUE(lock.release());
}

// A claim whose outcome is unknown is released in the background, which a store that does not
// answer delays.
TEST(Overload, ClaimsThatAreReleasedInTheBackgroundAreKeptInABoundedNumber) {
  constexpr int kCalls = 5000;  // more than are kept
  const auto store =
      std::make_shared<FaultyStore>(std::make_shared<engines::memory::MemoryStore>());
  locks::LockProvider provider(store);
  store->lose_request(Operation::claim, 4 * kCalls);
  store->lose_request(Operation::release, 8 * kCalls);
  const std::int64_t before = live_bytes;
  expect_bounded(kCalls, 3 * kCalls,
                 [&](int i) { EXPECT_FALSE(provider.try_acquire(name_of(i))); });
  EXPECT_GT(live_bytes - before, 0);
}

}  // namespace
}  // namespace holdfast::tests
