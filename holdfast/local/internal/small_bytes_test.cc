#include <holdfast/local/internal/small_bytes.h>

#include <string>

#include <gtest/gtest.h>

namespace holdfast::local::internal {
namespace {

constexpr std::size_t kMost = 200;

std::string text_of(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += static_cast<char>('a' + i % 26);
  }
  return text;
}

TEST(SmallBytes, CopiesEveryByteAndNothingBeyond) {
  for (std::size_t size = 0; size <= kMost; ++size) {
    const std::string from = text_of(size);
    std::string to(size + 2, '.');
    copy_small(to.data() + 1, from.data(), size);
    EXPECT_EQ(to, "." + from + ".");
  }
}

TEST(SmallBytes, ComparesEveryByteAndNothingBeyond) {
  for (std::size_t size = 0; size <= kMost; ++size) {
    const std::string one = text_of(size) + "x";
    std::string other = text_of(size) + "y";
    EXPECT_TRUE(equal_small(one.data(), other.data(), size));
    for (std::size_t i = 0; i < size; ++i) {
      const char was = other[i];
      other[i] = '!';
      EXPECT_FALSE(equal_small(one.data(), other.data(), size)) << i << " of " << size;
      other[i] = was;
    }
  }
}

}  // namespace
}  // namespace holdfast::local::internal
