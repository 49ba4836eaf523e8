#include <holdfast/objects/internal/block_pool.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::objects::internal {
namespace {

TEST(BlockPool, BlocksAreAlignedAndDoNotOverlap) {
  BlockPool pool(100);
  std::set<std::uintptr_t> blocks;
  for (int i = 0; i < 50'000; ++i) {  // more than one slab of the largest size
    void* const block = pool.allocate();
    std::memset(block, i, 100);
    blocks.insert(reinterpret_cast<std::uintptr_t>(block));
  }
  EXPECT_EQ(blocks.size(), 50'000U);
  std::uintptr_t previous = 0;
  for (const std::uintptr_t block : blocks) {
    EXPECT_EQ(block % 64, 0U);
    EXPECT_GE(block - previous, 100U);
    previous = block;
  }
}

TEST(BlockPool, AFreedBlockIsUsedAgain) {
  BlockPool pool(64);
  void* const first = pool.allocate();
  void* const second = pool.allocate();
  pool.free(first);
  pool.free(second);
  EXPECT_EQ(pool.allocate(), second);
  EXPECT_EQ(pool.allocate(), first);
}

TEST(BlockPool, ABlockMayBeLargerThanASlab) {
  BlockPool pool(5'000'000);
  for (int i = 0; i < 12; ++i) std::memset(pool.allocate(), i, 5'000'000);
}

}  // namespace
}  // namespace holdfast::objects::internal
