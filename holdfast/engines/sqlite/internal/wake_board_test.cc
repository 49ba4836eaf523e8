#include <holdfast/engines/sqlite/internal/wake_board.h>

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/engines/sqlite/testing_support.h>

namespace holdfast::engines::sqlite::internal {
namespace {

using namespace std::chrono_literals;

class WakeBoardTest : public ::testing::Test {
 protected:
  std::unique_ptr<WakeBoard> open() {
    testing::write(folder_ / "db", "");
    auto board = WakeBoard::open(folder_ / "db");
    EXPECT_TRUE(board.has_value());
    return *std::move(board);
  }

  testing::Folder folder_;
};

TEST_F(WakeBoardTest, EverybodyOnTheFileSeesWhatIsAwaitedAndHinted) {
  const auto one = open();
  const auto two = open();
  const auto slot = WakeBoard::slot_of("a");
  EXPECT_FALSE(two->is_awaited(slot));
  one->await(slot);
  EXPECT_TRUE(two->is_awaited(slot));
  EXPECT_FALSE(two->is_awaited(slot + 1));
  EXPECT_EQ(two->add_hint(slot), 0U);
  EXPECT_EQ(one->hints(slot), 1U);
  EXPECT_EQ(one->hints(slot + 1), 0U);
}

TEST_F(WakeBoardTest, AWakeEndsASleepAndOneThatCameBeforePreventsIt) {
  const auto one = open();
  const auto two = open();
  const std::uint32_t seen = one->all_hints();
  std::jthread waker([&] { two->wake_all(); });
  while (one->all_hints() == seen) {
    one->sleep(seen, 60s);
  }
  one->sleep(seen, 1h);  // returns at once
}

TEST_F(WakeBoardTest, SlotsAreTheSameInEveryBuild) {
  EXPECT_EQ(WakeBoard::slot_of(""), 0xcbf29ce484222325U % 255);
  EXPECT_EQ(WakeBoard::slot_of("a"), 0xaf63dc4c8601ec8cU % 255);
}

}  // namespace
}  // namespace holdfast::engines::sqlite::internal
