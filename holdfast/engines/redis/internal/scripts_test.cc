#include <holdfast/engines/redis/internal/scripts.h>

#include <gtest/gtest.h>

namespace holdfast::engines::redis::internal {
namespace {

const Batch kFive = {0, 1, 2, 3, 4};

TEST(Batches, PositionsAreSplitInOrder) {
  const std::vector<std::uint16_t> one_slot(kFive.size());
  EXPECT_EQ(split_by_slot(kFive, one_slot, 2), (std::vector<Batch>{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(split_by_slot({}, {}, 2), std::vector<Batch>());
}

TEST(Batches, ABatchBySlotHasOneSlotAndNoMoreThanItMay) {
  const std::vector<std::uint16_t> slots = {7, 3, 7, 7, 3};
  EXPECT_EQ(split_by_slot(kFive, slots, 2), (std::vector<Batch>{{1, 4}, {0, 2}, {3}}));
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
