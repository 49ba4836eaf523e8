// The heap memory of a lock, counted at operator new.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <holdfast/async/async_key_lock.h>
#include <holdfast/async/key_testing_support.h>

namespace {

std::atomic<std::size_t> allocations{0};
std::atomic<std::ptrdiff_t> blocks{0};  // that are not yet freed

}  // namespace

// A sanitizer has its own, and would miss what these hide from it.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  blocks.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) blocks.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }
#endif

namespace holdfast::async {
namespace {

using testing_support::settle;
namespace asio = boost::asio;
using Error = boost::system::error_code;

class AsyncKeyMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (testing_support::kSanitized) GTEST_SKIP() << "a sanitizer's heap is not ours to count";
  }

  AsyncKeyLock keys;
  asio::io_context context;
};

// Returns what the coroutine allocates in its second run: the first fills the caches, Asio's and
// ours.
template <class MakeCoroutine>
std::size_t allocations_of(asio::io_context& context, const MakeCoroutine& make) {
  std::size_t counted = 0;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        co_await make();
        const std::size_t before = allocations;
        co_await make();
        counted = allocations - before;
      },
      asio::detached);
  context.run();
  return counted;
}

TEST_F(AsyncKeyMemory, AFreeKeyCostsACoroutineNoAllocation) {
  const std::string long_key(100, 'x');
  EXPECT_EQ(allocations_of(context,
                           [&]() -> asio::awaitable<void> {
                             for (int i = 0; i < 1'000; ++i) {
                               const auto guard = co_await keys.lock("key");
                               const auto shared = co_await keys.lock_shared(long_key);
                             }
                           }),
            0U);
}

TEST_F(AsyncKeyMemory, AFreeKeyCostsACallbackNoAllocation) {
  std::size_t counted = 0;
  asio::post(context, [&] {
    for (int i = 0; i < 2; ++i) {
      const std::size_t before = allocations;
      keys.lock("key", asio::bind_executor(context, [](Error, AsyncExclusiveGuard) {}));
      context.poll_one();
      counted = allocations - before;
    }
  });
  context.run();
  EXPECT_EQ(counted, 0U);
}

TEST_F(AsyncKeyMemory, AWaitCostsACoroutineOnlyMemoryThatAsioCaches) {
  constexpr int kRounds = 1'000;
  bool is_over = false;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        while (!is_over) {
          const auto guard = co_await keys.lock("key");
          co_await asio::post(asio::use_awaitable);
        }
      },
      asio::detached);
  EXPECT_EQ(allocations_of(context,
                           [&]() -> asio::awaitable<void> {
                             for (int i = 0; i < kRounds; ++i) {
                               const auto guard = co_await keys.lock("key");
                               co_await asio::post(asio::use_awaitable);
                             }
                             is_over = true;
                           }),
            0U);
}

// An allocator that counts.
template <class T>
struct Counting {
  using value_type = T;
  explicit Counting(std::size_t& its_count) : count(&its_count) {}
  template <class U>
  explicit(false) Counting(const Counting<U>& other) : count(other.count) {}
  T* allocate(std::size_t n) {
    ++*count;
    return static_cast<T*>(std::malloc(n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t /*n*/) { std::free(memory); }
  friend bool operator==(const Counting&, const Counting&) = default;

  std::size_t* count;
};

struct CountingHandler {
  using allocator_type = Counting<void>;
  using executor_type = asio::io_context::executor_type;
  allocator_type get_allocator() const { return allocator; }
  executor_type get_executor() const { return executor; }
  void operator()(Error, const AsyncExclusiveGuard&) const {}

  allocator_type allocator;
  executor_type executor;
};

TEST_F(AsyncKeyMemory, AWaitTakesItsMemoryFromTheHandlersAllocator) {
  auto holder = keys.try_lock("key");
  std::size_t through_allocator = 0;
  const CountingHandler handler{Counting<void>(through_allocator), context.get_executor()};
  keys.lock("key", handler);  // registers with the context, once for all
  settle(context);
  through_allocator = 0;
  const std::size_t before = allocations;
  keys.lock("key", handler);
  EXPECT_EQ(through_allocator, 1U);
  EXPECT_EQ(allocations, before);
  holder.reset();
  settle(context);
  EXPECT_EQ(allocations, before);
}

TEST_F(AsyncKeyMemory, AMillionKeysInTurnLeaveNothingAllocated) {
  constexpr int kMany = 1'000'000;
  constexpr std::size_t kEveryShardOnce = 64;
  std::string key = "0000000";
  const std::size_t before = allocations;
  for (int i = 0; i < kMany; ++i) {
    for (std::size_t digit = key.size(); digit-- > 0 && ++key[digit] > '9';) key[digit] = '0';
    ASSERT_TRUE(keys.try_lock(key));
  }
  EXPECT_LE(allocations - before, kEveryShardOnce);
  EXPECT_EQ(keys.size(), 0U);
}

TEST_F(AsyncKeyMemory, ManyKeysHeldTogetherLeaveLittleBehind) {
  constexpr int kMany = 200'000;
  constexpr std::ptrdiff_t kMostSpare = 64 * 64;  // of each of 64 shards, and few have a long key
  const std::ptrdiff_t before = blocks;
  {
    std::vector<AsyncExclusiveGuard> guards;
    for (int i = 0; i < kMany; ++i) {
      guards.push_back(*keys.try_lock("k" + std::to_string(i)));
    }
    EXPECT_EQ(keys.size(), static_cast<std::size_t>(kMany));
    EXPECT_GE(blocks - before, kMany);
  }
  EXPECT_EQ(keys.size(), 0U);
  EXPECT_LE(blocks - before, kMostSpare);
}

TEST_F(AsyncKeyMemory, OverloadNeverKeepsMoreOperationsThanTheLimit) {
  constexpr int kLimit = 100;
  AsyncKeyLock few({.max_waiters = kLimit});
  std::optional<AsyncExclusiveGuard> held = few.try_lock("key");
  int entered = 0;
  int refused = 0;
  const auto wait = [&](int operations) {
    for (int i = 0; i < operations; ++i) {
      few.lock("key",
               asio::bind_executor(context, [&](const Error& error, AsyncExclusiveGuard guard) {
                 entered += guard.holds() ? 1 : 0;
                 refused += error == limit_exceeded() ? 1 : 0;
               }));
      settle(context);
    }
  };
  wait(2 * kLimit);
  const std::ptrdiff_t full = blocks;
  wait(10'000);
  EXPECT_LE(blocks, full);
  EXPECT_EQ(refused, 10'000 + kLimit);
  EXPECT_EQ(few.snapshot().front().waiting_exclusive, kLimit);

  held.reset();
  settle(context);
  EXPECT_EQ(entered, kLimit);
  wait(1);  // there is room again
  EXPECT_EQ(entered, kLimit + 1);
}

}  // namespace
}  // namespace holdfast::async
