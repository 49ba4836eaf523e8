#include <holdfast/local/internal/lease_entry.h>

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace holdfast::local::internal {
namespace {

// All texts have this hash: only their bytes distinguish them.
KeyProbe with_forged_hash(std::string_view text) {
  KeyProbe probe(text, HashSeed(1));
  probe.hash = 42;
  return probe;
}

std::string text_of(std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) {
    text += static_cast<char>('a' + i % 26);
  }
  return text;
}

// Inside the entry, and, from 50 bytes on, on the heap.
constexpr std::size_t kLengths[] = {1, 3, 4, 7, 8, 13, 15, 16, 17, 31, 45, 49, 50, 64, 1000};

class LeaseEntryTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  LeaseEntryTest() {
    entry_.hash = with_forged_hash(key_).tag();
    entry_.set_text(key_, owner_);
  }
  ~LeaseEntryTest() override {
    Trash trash;
    entry_.drop_text(trash);
  }

  const std::string key_ = text_of(GetParam());
  const std::string owner_ = "it is " + key_;
  LeaseEntry entry_{};
};

TEST_P(LeaseEntryTest, StoresItsTexts) {
  EXPECT_EQ(entry_.key(), key_);
  EXPECT_EQ(entry_.owner(), owner_);
}

TEST_P(LeaseEntryTest, IsForItsKeyAlone) {
  EXPECT_TRUE(entry_.is_for(with_forged_hash(key_)));
  for (std::size_t at = 0; at < key_.size(); ++at) {
    std::string other = key_;
    other[at] = static_cast<char>(other[at] ^ 1);
    ASSERT_FALSE(entry_.is_for(with_forged_hash(other))) << "different at " << at;
  }
  EXPECT_FALSE(entry_.is_for(with_forged_hash(key_ + '\0')));
  EXPECT_FALSE(entry_.is_for(with_forged_hash(key_.substr(1))));
}

TEST_P(LeaseEntryTest, IsOwnedByItsOwnerAlone) {
  EXPECT_TRUE(entry_.is_owned_by(owner_));
  for (std::size_t at = 0; at < owner_.size(); ++at) {
    std::string other = owner_;
    other[at] = static_cast<char>(other[at] ^ 1);
    ASSERT_FALSE(entry_.is_owned_by(other)) << "different at " << at;
  }
  EXPECT_FALSE(entry_.is_owned_by(owner_ + '\0'));
  EXPECT_FALSE(entry_.is_owned_by(owner_.substr(1)));
}

INSTANTIATE_TEST_SUITE_P(OfEveryLength, LeaseEntryTest, ::testing::ValuesIn(kLengths));

}  // namespace
}  // namespace holdfast::local::internal
