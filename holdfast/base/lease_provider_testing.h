// The cases that every LeaseProvider must pass: a test program runs them on its own implementation.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/lease_provider.h>

namespace holdfast::base::testing_support {

struct ProviderUnderTest {
  LeaseProvider& locks;
  std::function<void(Duration)> advance;  // moves the clock that judges the leases

  // Returns the token, or zero if the key is leased.
  [[nodiscard]] std::uint64_t lock(std::string_view key, std::string_view owner,
                                   Ttl ttl = std::chrono::seconds(10)) const {
    const auto token = locks.try_lock(key, owner, ttl);
    EXPECT_TRUE(token.has_value());
    return token && *token ? (*token)->value() : 0;
  }
};

inline void expect_leases_that_end(const ProviderUnderTest& test) {
  using namespace std::chrono_literals;
  LeaseProvider& locks = test.locks;
  const std::uint64_t first = test.lock("a", "one", 10s);
  EXPECT_NE(first, 0U);
  EXPECT_EQ(test.lock("a", "two"), 0U);
  EXPECT_EQ(test.lock("a", "one"), 0U) << "not re-entrant";
  EXPECT_TRUE(*locks.is_locked_by("a", "one"));
  EXPECT_FALSE(*locks.is_locked_by("a", "two"));
  EXPECT_FALSE(*locks.is_lock_expired("a"));
  EXPECT_EQ(*locks.time_left("a"), 10s);
  test.advance(4s);
  EXPECT_EQ(locks.renew("a", "one", 10s)->value(), first);
  EXPECT_EQ(*locks.time_left("a"), 10s);
  EXPECT_EQ(locks.renew("a", "two", 10s).error().code, ErrorCode::not_held);
  test.advance(10s);
  EXPECT_TRUE(*locks.is_lock_expired("a"));
  EXPECT_EQ(*locks.time_left("a"), std::nullopt);
  EXPECT_EQ(locks.renew("a", "one", 10s).error().code, ErrorCode::not_held);
  EXPECT_GT(test.lock("a", "two"), first);
}

inline void expect_unlocks_of_what_is_meant(const ProviderUnderTest& test) {
  using namespace std::chrono_literals;
  LeaseProvider& locks = test.locks;
  const FencingToken first(test.lock("a", "one", 1s));
  EXPECT_EQ(locks.unlock("a", "two").error().code, ErrorCode::not_held);
  test.advance(1s);
  const FencingToken second(test.lock("a", "one", 10s));
  EXPECT_EQ(locks.unlock("a", first).error().code, ErrorCode::not_held);
  EXPECT_TRUE(*locks.is_locked_by("a", "one"));
  EXPECT_TRUE(locks.unlock("a", second));
  EXPECT_EQ(locks.unlock("a", second).error().code, ErrorCode::not_held);
  EXPECT_NE(test.lock("a", "two"), 0U);
  EXPECT_TRUE(locks.unlock("a", "two"));
  EXPECT_NE(test.lock("a", "three"), 0U);
  EXPECT_TRUE(locks.unlock("a"));
  EXPECT_EQ(locks.unlock("a").error().code, ErrorCode::not_held);
}

inline void expect_refusal_of_bad_arguments(const ProviderUnderTest& test) {
  using namespace std::chrono_literals;
  LeaseProvider& locks = test.locks;
  constexpr auto kInvalid = ErrorCode::invalid_argument;
  EXPECT_EQ(locks.try_lock("", "one", 1s).error().code, kInvalid);
  EXPECT_EQ(locks.try_lock("a", "", 1s).error().code, kInvalid);
  EXPECT_EQ(locks.try_lock("a", "one", 0s).error().code, kInvalid);
  EXPECT_EQ(locks.renew("a", "", 1s).error().code, kInvalid);
  EXPECT_EQ(locks.unlock("a", "").error().code, kInvalid);
  EXPECT_EQ(locks.unlock("").error().code, kInvalid);
}

inline void expect_one_winner_among_many(const ProviderUnderTest& test) {
  for (int round = 0; round < 50; ++round) {
    const std::string key = "race " + std::to_string(round);
    std::atomic<int> winners = 0;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 8; ++i) {
        threads.emplace_back(
            [&, i] { winners += test.lock(key, "racer " + std::to_string(i)) != 0 ? 1 : 0; });
      }
    }
    ASSERT_EQ(winners, 1);
  }
}

}  // namespace holdfast::base::testing_support
