#include <holdfast/fence/fence.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/fence/testing_support.h>

namespace holdfast::fence {
namespace {

using base::FencingToken;
using namespace std::chrono_literals;

TEST(Fence, RejectsAnOlderTokenAfterANewerOne) {
  Fence fence;
  EXPECT_TRUE(fence.check(FencingToken{5}));
  EXPECT_TRUE(fence.check(FencingToken{7}));
  EXPECT_FALSE(fence.check(FencingToken{6}));
  EXPECT_FALSE(fence.check(FencingToken{5}));
  EXPECT_EQ(fence.newest(), FencingToken{7});
}

TEST(Fence, AcceptsAnEqualToken) {
  Fence fence;
  EXPECT_TRUE(fence.check(FencingToken{7}));
  EXPECT_TRUE(fence.check(FencingToken{7}));
}

TEST(Fence, StartsWithTheTokenThatTheResourceHasStored) {
  Fence fence(FencingToken{7});
  EXPECT_FALSE(fence.check(FencingToken{6}));
  EXPECT_TRUE(fence.check(FencingToken{7}));
}

TEST(Fence, ATokenFromTheFarFutureIsRejectedAndLocksNoHolderOut) {
  Fence fence;
  EXPECT_TRUE(fence.check(FencingToken{0}));
  EXPECT_FALSE(fence.check(FencingToken{UINT64_MAX}));
  EXPECT_FALSE(fence.check(testing::token_in(kFurthestAhead + 1h)));
  EXPECT_TRUE(fence.check(FencingToken{7}));
  EXPECT_TRUE(fence.check(testing::token_in(kFurthestAhead - 1h)));
}

TEST(Fence, AcceptedTokensNeverDecreaseForAnyThread) {
  constexpr std::uint64_t kTokens = 200'000;
  constexpr int kThreads = 4;
  Fence fence;
  std::atomic<std::uint64_t> next = 0;
  std::atomic<int> fell = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (std::uint64_t token = ++next; token <= kTokens; token = ++next) {
          const std::uint64_t before = fence.newest().value();
          const bool accepted = fence.check(FencingToken{token});
          const std::uint64_t after = fence.newest().value();
          fell += after < before || (accepted && token < before) || after < token ? 1 : 0;
        }
      });
    }
  }
  EXPECT_EQ(fell, 0);
  EXPECT_EQ(fence.newest(), FencingToken{kTokens});
}

}  // namespace
}  // namespace holdfast::fence
