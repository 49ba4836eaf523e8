#include <holdfast/fence/fence_guard.h>

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <future>
#include <iterator>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::fence {
namespace {

using base::ErrorCode;
using base::FencingToken;

ErrorCode code_of(const auto& result) { return result ? ErrorCode::internal : result.error().code; }

TEST(FenceGuard, RejectsAStaleTokenAndNamesTheNewerOne) {
  FenceGuard guard;
  EXPECT_TRUE(guard.check("a", FencingToken{7}));
  const auto refused = guard.check("a", FencingToken{6});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::lost);
  EXPECT_NE(refused.error().message.find("token 7 was seen"), std::string::npos);
  EXPECT_EQ(code_of(guard.enter("a", FencingToken{6})), ErrorCode::lost);
  EXPECT_TRUE(guard.check("a", FencingToken{7}));
  EXPECT_TRUE(guard.enter("a", FencingToken{7}));
}

TEST(FenceGuard, ATokenFromTheFarFutureIsATypedErrorAndLeavesNoKey) {
  FenceGuard guard;
  EXPECT_EQ(code_of(guard.check("a", FencingToken{UINT64_MAX})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(guard.enter("a", FencingToken{UINT64_MAX})), ErrorCode::invalid_argument);
  EXPECT_EQ(guard.size(), 0U);
  EXPECT_TRUE(guard.enter("a", FencingToken{7}));
}

TEST(FenceGuard, KeysAreIndependent) {
  FenceGuard guard;
  EXPECT_TRUE(guard.check("a", FencingToken{7}));
  EXPECT_TRUE(guard.check("b", FencingToken{1}));
  EXPECT_TRUE(guard.check("", FencingToken{1}));
  EXPECT_TRUE(guard.check(std::string_view("a\0", 2), FencingToken{1}));
  EXPECT_EQ(guard.newest("a"), FencingToken{7});
  EXPECT_EQ(guard.newest("b"), FencingToken{1});
  EXPECT_EQ(guard.newest("c"), std::nullopt);
  EXPECT_EQ(guard.size(), 4U);
}

TEST(FenceGuard, LimitsTheNumberOfKeysAndForgetsNoneAutomatically) {
  FenceGuard guard({.max_keys = 2});
  EXPECT_TRUE(guard.check("a", FencingToken{7}));
  EXPECT_TRUE(guard.check("b", FencingToken{7}));
  EXPECT_EQ(code_of(guard.check("c", FencingToken{7})), ErrorCode::limit_exceeded);
  EXPECT_EQ(code_of(guard.enter("c", FencingToken{7})), ErrorCode::limit_exceeded);
  EXPECT_EQ(guard.size(), 2U);
  EXPECT_EQ(code_of(guard.check("a", FencingToken{6})), ErrorCode::lost);
  guard.forget("a");
  guard.forget("a");
  EXPECT_EQ(guard.size(), 1U);
  EXPECT_TRUE(guard.check("c", FencingToken{1}));
}

TEST(FenceGuard, ANewerTokenWaitsUntilTheOlderPassIsDone) {
  FenceGuard guard;
  std::string written;
  auto older = guard.enter("a", FencingToken{6});
  ASSERT_TRUE(older);
  std::latch started(1);
  auto newer = std::async(std::launch::async, [&] {
    started.count_down();
    const auto pass = guard.enter("a", FencingToken{7});
    written += pass ? "newer" : "refused";
  });
  started.wait();
  EXPECT_TRUE(guard.enter("b", FencingToken{1})) << "another key waits for nobody";
  written += "older ";  // with the newer one inside, this would be a race
  {
    const FencePass ended = *std::move(older);
  }
  newer.get();
  EXPECT_EQ(written, "older newer");
}

// Returns whether the thread is blocked in the kernel, like a waiter for a mutex.
bool is_asleep(pid_t thread) {
  std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(stat), {}};
  return text.find(") S ") != std::string::npos;
}

TEST(FenceGuard, AWaiterIsRejectedIfANewerTokenWasSeenMeanwhile) {
  FenceGuard guard;
  auto inside = guard.enter("a", FencingToken{5});
  ASSERT_TRUE(inside);
  std::atomic<pid_t> waiter = 0;
  auto older = std::async(std::launch::async, [&] {
    waiter = ::gettid();
    return code_of(guard.enter("a", FencingToken{6}));
  });
  while (waiter == 0 || !is_asleep(waiter)) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(guard.check("a", FencingToken{7}));
  {
    const FencePass ended = *std::move(inside);
  }
  EXPECT_EQ(older.get(), ErrorCode::lost);
}

// Each key is written by threads with different tokens, each token once: a thread with a pass sees
// only smaller ones written, and in the end the greatest is there.
TEST(FenceGuard, TokensWrittenUnderAPassOnlyGrow) {
  constexpr std::size_t kKeys = 3;
  constexpr int kThreads = 6;
  constexpr std::uint64_t kTokens = 30'000;
  FenceGuard guard;
  std::array<std::uint64_t, kKeys> written{};  // protected by the guard
  std::atomic<std::uint64_t> next = 0;
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (std::uint64_t token = ++next; token <= kTokens; token = ++next) {
          const std::size_t key = token % kKeys;
          if (const auto pass = guard.enter(std::to_string(key), FencingToken{token})) {
            wrong += written[key] >= token ? 1 : 0;
            written[key] = token;
          }
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  for (std::uint64_t token = kTokens; token > kTokens - kKeys; --token) {
    EXPECT_EQ(written[token % kKeys], token);
  }
  EXPECT_EQ(guard.size(), kKeys);
}

}  // namespace
}  // namespace holdfast::fence
