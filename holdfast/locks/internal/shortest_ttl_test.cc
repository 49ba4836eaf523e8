#include <holdfast/locks/internal/shortest_ttl.h>

#include <gtest/gtest.h>

namespace holdfast::locks::internal {
namespace {

using namespace std::chrono_literals;

void expect_about(const ShortestTtl& ttls, base::Duration shortest) {
  EXPECT_LE(ttls.value(), shortest);
  EXPECT_GT(ttls.value(), shortest / 2);
}

TEST(ShortestTtl, IsWithoutBoundWhileThereIsNone) {
  EXPECT_EQ(ShortestTtl().value(), base::Duration::max());
}

TEST(ShortestTtl, FollowsWhatIsAddedAndRemoved) {
  ShortestTtl ttls;
  ttls.add(30s);
  expect_about(ttls, 30s);
  ttls.add(100ms);
  ttls.add(100ms);
  expect_about(ttls, 100ms);
  ttls.remove(100ms);
  expect_about(ttls, 100ms);
  ttls.remove(100ms);
  expect_about(ttls, 30s);
  ttls.remove(30s);
  EXPECT_EQ(ttls.value(), base::Duration::max());
}

TEST(ShortestTtl, TakesEveryDuration) {
  ShortestTtl ttls;
  ttls.add(base::Duration::max());
  expect_about(ttls, base::Duration::max());
  ttls.add(0ns);
  EXPECT_EQ(ttls.value(), 1ns);
}

}  // namespace
}  // namespace holdfast::locks::internal
