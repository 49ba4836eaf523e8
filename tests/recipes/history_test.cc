// The check of recorded hits finds what it is there to find.
#include <tests/recipes/history.h>

#include <random>

#include <gtest/gtest.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

std::vector<RecordedHit> burst(base::Duration start, int count) {
  std::vector<RecordedHit> hits;
  for (int i = 0; i < count; ++i) {
    const base::TimePoint asked = base::TimePoint(start) + i * 10us;
    hits.push_back({asked, asked + 50us});
  }
  return hits;
}

TEST(RecordedHits, ADoubleBurstAtTheEdgeOfAFixedWindowIsFound) {
  std::vector<RecordedHit> hits = burst(90ms, 100);
  const auto second = burst(100ms, 100);
  hits.insert(hits.end(), second.begin(), second.end());
  std::shuffle(hits.begin(), hits.end(), std::mt19937(7));
  EXPECT_EQ(most_in_one_period(hits, 100ms), 200U);
}

TEST(RecordedHits, BurstsAPeriodApartAreNone) {
  std::vector<RecordedHit> hits = burst(0ms, 100);
  const auto second = burst(101ms, 100);
  hits.insert(hits.end(), second.begin(), second.end());
  EXPECT_EQ(most_in_one_period(hits, 100ms), 100U);
}

TEST(RecordedHits, WhatMayHaveBeenLaterIsNotCounted) {
  const base::TimePoint start(1s);
  const std::vector<RecordedHit> hits{{start, start + 1ms}, {start + 2ms, start + 100ms}};
  EXPECT_EQ(most_in_one_period(hits, 100ms), 1U);
  EXPECT_EQ(most_in_one_period(hits, 101ms), 2U);
}

}  // namespace
}  // namespace holdfast::tests
