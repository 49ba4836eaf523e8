#include <holdfast/engines/redis/internal/held_mutex.h>

#include <string>

#include <gtest/gtest.h>

namespace holdfast::engines::redis::internal {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kNow = 1'700'000'000'000'000;
const std::string kId = "0123456789abcdef0123456789abcdef";

std::optional<store::NameState> read(const std::string& value, const std::string& note) {
  return held_mutex(*base::Name::make("job"), value, note, kNow);
}

std::string note(const std::string& numbers, const std::string& words = "2 me why not") {
  return numbers + " " + kId + " " + words;
}

// Granted a second ago, for three seconds.
const std::string kNumbers = "1699999999000001 1700000100 1699999999000000 3000000";

TEST(HeldMutex, IsReadFromItsNote) {
  const auto state = read(kId, note(kNumbers, "6 me too because"));
  ASSERT_TRUE(state);
  EXPECT_EQ(state->capacity, 1U);
  const store::Holder holder{.id = *base::LeaseId::parse(kId),
                             .owner = "me too",
                             .reason = " because",
                             .permits = 1,
                             .token = base::FencingToken(1'699'999'999'000'001),
                             .held_for = 1s,
                             .time_left = 2s};
  EXPECT_EQ(state->holders, std::vector{holder});
}

TEST(HeldMutex, WhatIsNotCertainIsLeftToTheServer) {
  ASSERT_TRUE(read(kId, note(kNumbers)));
  EXPECT_FALSE(read("", note(kNumbers))) << "the plain key is missing";
  EXPECT_FALSE(read(std::string(32, 'b'), note(kNumbers))) << "another holds it";
  EXPECT_FALSE(read(kId, note("1 1 1699999999000000 1000000"))) << "it has ended";
  EXPECT_FALSE(read(kId, note(kNumbers, "0 "))) << "it is not confirmed yet";
  EXPECT_FALSE(read(kId, note(kNumbers, "9 short")));
  EXPECT_FALSE(read(kId, note("1800000000000000 1 1699999999000000 3000000"))) << "a forged token";
  EXPECT_FALSE(read(kId, note("1 1 1699999999000000 9007199254740992"))) << "not exact";
  for (const std::string bad : {"1 1 1699999999000000 -3000000", "1 1 1699999999000000 3e6",
                                "+1 1 1699999999000000 3000000", " 1 1 1699999999000000 3000000"}) {
    EXPECT_FALSE(read(kId, note(bad))) << bad;
  }
  EXPECT_FALSE(read("0", kNumbers + " 0 0 ")) << "it yields";
  const std::string whole = note(kNumbers);
  for (std::size_t size = 0; size <= whole.find(" me"); ++size) {
    EXPECT_FALSE(read(kId, whole.substr(0, size))) << size;
  }
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
