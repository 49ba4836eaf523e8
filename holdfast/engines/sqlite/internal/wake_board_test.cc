#include <holdfast/engines/sqlite/internal/wake_board.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

TEST_F(WakeBoardTest, EveryBoardOnTheFileSeesWhatIsAwaitedHintedAndGranted) {
  const auto one = open();
  const auto two = open();
  const auto slot = WakeBoard::slot_of("a");
  EXPECT_FALSE(two->is_awaited(slot));
  one->await(slot);
  EXPECT_TRUE(two->is_awaited(slot));
  EXPECT_FALSE(two->is_awaited(slot + 1));
  const auto before = one->news(slot);
  const std::uint32_t hinted = two->hint(slot);
  EXPECT_EQ(one->news(slot).hints, hinted);
  EXPECT_NE(one->news(slot).hints, before.hints);
  EXPECT_EQ(one->news(slot + 1).hints, before.hints);

  two->grant(slot, one->address(), base::LeaseId(1, 2));
  EXPECT_NE(one->news(slot).grants, before.grants);
  EXPECT_EQ(one->news(slot).granted_to, one->address());
  EXPECT_EQ(one->news(slot).granted, base::LeaseId(1, 2));
  EXPECT_TRUE(two->is_awaited(slot));
}

TEST_F(WakeBoardTest, AWakeEndsASleepAndOneThatCameBeforePreventsIt) {
  const auto one = open();
  const auto two = open();
  const auto slot = WakeBoard::slot_of("a");
  one->await(slot);
  for (const bool by_grant : {false, true}) {
    const std::uint32_t seen = one->stamp();
    std::jthread waker([&] {
      by_grant ? two->grant(slot, one->address(), {}) : static_cast<void>(two->hint(slot));
    });
    while (one->stamp() == seen) {
      EXPECT_NE(one->sleep(seen, 60s), WakeBoard::Slept::badly);
    }
    EXPECT_EQ(one->sleep(seen, 1h), WakeBoard::Slept::not_at_all);  // returns at once
  }
}

TEST_F(WakeBoardTest, AGrantWakesNoOtherAddress) {
  const auto one = open();
  auto two = open();
  while (two->address() % 512 == one->address() % 512) {
    two = open();
  }
  two->await(WakeBoard::slot_of("a"));
  const std::uint32_t seen = two->stamp();
  one->grant(WakeBoard::slot_of("a"), one->address(), {});
  EXPECT_TRUE(two->stamp() == seen || one->address() % 512 / 32 == two->address() % 512 / 32);
}

TEST_F(WakeBoardTest, ATruncatedFileEndsNoProcessAndSaysSo) {
  const auto board = open();
  const auto slot = WakeBoard::slot_of("a");
  board->await(slot);
  std::filesystem::resize_file(folder_ / "db-wake", 0);
  EXPECT_EQ(board->sleep(board->stamp(), 1h), WakeBoard::Slept::badly);
  EXPECT_FALSE(board->is_awaited(slot));
  EXPECT_EQ(board->news(slot).hints, 0U);
  board->hint(slot);
  board->grant(slot, board->address(), {});
  board->await(slot);
  EXPECT_TRUE(board->is_awaited(slot));
}

TEST_F(WakeBoardTest, AFileThatIsNotItsOwnIsLeftAsItIs) {
  testing::write(folder_ / "db", "");
  const auto wake = folder_ / "db-wake";
  const auto is_refused = [&] { return !WakeBoard::open(folder_ / "db").has_value(); };
  // A second name of somebody's file.
  testing::write(folder_ / "victim", "");
  chmod((folder_ / "victim").c_str(), 0400);
  std::filesystem::create_hard_link(folder_ / "victim", wake);
  EXPECT_TRUE(is_refused());
  struct stat status{};
  ASSERT_EQ(stat((folder_ / "victim").c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 0);
  EXPECT_EQ(status.st_mode & 0777U, 0400U);
  std::filesystem::remove(wake);
  // Another size.
  testing::write(wake, "something else");
  EXPECT_TRUE(is_refused());
  EXPECT_EQ(testing::contents(wake), "something else");
  std::filesystem::remove(wake);
  // A pipe, and a link to a file.
  ASSERT_EQ(mkfifo(wake.c_str(), 0600), 0);
  EXPECT_TRUE(is_refused());
  std::filesystem::remove(wake);
  std::filesystem::create_symlink(folder_ / "victim", wake);
  EXPECT_TRUE(is_refused());
  std::filesystem::remove(wake);
  EXPECT_FALSE(is_refused());
}

// Without its locks, others would take the board for one whose process has ended.
TEST_F(WakeBoardTest, ABoardThatCannotLockItsBytesIsNotOpened) {
  (void)open();  // makes the file
  const int fd = ::open((folder_ / "db-wake").c_str(), O_RDWR | O_CLOEXEC);
  struct flock everything{};
  everything.l_type = F_WRLCK;
  everything.l_whence = SEEK_SET;
  ASSERT_EQ(fcntl(fd, F_OFD_SETLK, &everything), 0);
  const auto board = WakeBoard::open(folder_ / "db");
  ASSERT_FALSE(board.has_value());
  EXPECT_EQ(board.error().code, base::ErrorCode::unavailable);
  EXPECT_TRUE(board.error().message.contains("db-wake cannot be used")) << board.error().message;
  close(fd);
  EXPECT_TRUE(WakeBoard::open(folder_ / "db").has_value());
}

TEST_F(WakeBoardTest, AFileOfAnotherUserIsLeftAsItIs) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can make a file of another user";
  }
  testing::write(folder_ / "db", "");
  testing::write(folder_ / "db-wake", "");
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(chown((folder_ / "db-wake").c_str(), kNobody, kNobody), 0);
  EXPECT_FALSE(WakeBoard::open(folder_ / "db").has_value());
}

TEST_F(WakeBoardTest, SlotsAreTheSameInEveryBuild) {
  EXPECT_EQ(WakeBoard::slot_of(""), 0xcbf29ce484222325U % 96);
  EXPECT_EQ(WakeBoard::slot_of("a"), 0xaf63dc4c8601ec8cU % 96);
}

}  // namespace
}  // namespace holdfast::engines::sqlite::internal
