#include <holdfast/async/blocking_pool.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/no_room_for_threads.h>

#include <holdfast/base/error.h>

namespace holdfast::async {
namespace {

using tests::NoRoomForThreads;

class Task final : public BlockingPool::Task {
 public:
  explicit Task(std::function<void()> work) : work_(std::move(work)) {}
  void run_in_pool() noexcept override { work_(); }

 private:
  const std::function<void()> work_;
};

TEST(BlockingPool, CompletesAllTasksBeforeItEnds) {
  constexpr int kTasks = 1000;
  std::atomic<int> done = 0;
  std::vector<std::unique_ptr<Task>> tasks;
  {
    BlockingPool pool(3, kTasks);
    for (int i = 0; i < kTasks; ++i) {
      tasks.push_back(std::make_unique<Task>([&] { ++done; }));
      ASSERT_TRUE(pool.try_post(*tasks.back()));
    }
    EXPECT_LE(pool.threads(), 3U);
  }
  EXPECT_EQ(done, kTasks);
}

TEST(BlockingPool, StartsNoMoreThreadsThanAreNeeded) {
  std::latch begun(2);
  Task first([&] { begun.arrive_and_wait(); });
  Task second([&] { begun.arrive_and_wait(); });
  BlockingPool pool(4, 10);
  EXPECT_EQ(pool.threads(), 1U);
  pool.post(first);
  pool.post(second);
  begun.wait();
  EXPECT_EQ(pool.threads(), 2U);
}

// In separate processes: this one may still have the stacks of threads that have ended.
class BlockingPoolDeathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NoRoomForThreads::kWorks) GTEST_SKIP() << "a sanitizer needs the address space";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST_F(BlockingPoolDeathTest, IfNoThreadCanBeStartedThePresentOnesDoTheWork) {
  const auto post_two = [] {
    std::atomic<int> done = 0;
    std::size_t threads = 0;
    std::latch go_on(1);
    Task first([&] {
      go_on.wait();
      ++done;
    });
    Task second([&] { ++done; });
    {
      BlockingPool pool(4, 10);
      const NoRoomForThreads no_room;
      pool.post(first);
      pool.post(second);
      threads = pool.threads();
      go_on.count_down();
    }
    std::exit(done == 2 && threads == 1 ? 0 : 1);
  };
  EXPECT_EXIT(post_two(), ::testing::ExitedWithCode(0), "");
}

TEST_F(BlockingPoolDeathTest, WithoutAnyThreadTheConstructorThrows) {
  const auto make_one = [] {
    const NoRoomForThreads no_room;
    try {
      const BlockingPool pool(4, 10);
    } catch (const base::Exception& refused) {
      std::exit(refused.code() == base::ErrorCode::limit_exceeded ? 0 : 1);
    }
    std::exit(2);
  };
  EXPECT_EXIT(make_one(), ::testing::ExitedWithCode(0), "");
}
TEST(BlockingPool, AFullQueueRefusesClaimsButNotReleases) {
  std::latch begun(1);
  std::latch go_on(1);
  std::atomic<int> done = 0;
  Task slow([&] {
    begun.count_down();
    go_on.wait();
  });
  Task queued([&] { ++done; });
  Task refused([&] { ++done; });
  Task gives_back([&] { ++done; });
  {
    BlockingPool pool(1, 1);
    pool.post(slow);
    begun.wait();
    EXPECT_TRUE(pool.try_post(queued));
    EXPECT_FALSE(pool.try_post(refused));
    pool.post(gives_back);
    EXPECT_EQ(pool.queued(), 2U);
    go_on.count_down();
  }
  EXPECT_EQ(done, 2);
}

TEST(BlockingPool, MayBeDestroyedByOneOfItsThreads) {
  auto pool = std::make_unique<BlockingPool>(2, 10);
  std::latch gone(1);
  Task last([&] {
    pool.reset();
    gone.count_down();
  });
  pool->post(last);
  gone.wait();
  EXPECT_EQ(pool, nullptr);
}

TEST(BlockingPool, NeedsAThreadAndAQueue) {
  EXPECT_THROW(BlockingPool(0, 1), base::Exception);
  EXPECT_THROW(BlockingPool(1, 0), base::Exception);
}

}  // namespace
}  // namespace holdfast::async
