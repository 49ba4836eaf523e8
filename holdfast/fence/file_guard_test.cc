#include <holdfast/fence/file_guard.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/fence/testing_support.h>

namespace holdfast::fence {
namespace {

using base::FencingToken;
using namespace std::chrono_literals;
using testing::answer;
using testing::contents;

class FileGuardTest : public ::testing::Test {
 protected:
  // Makes a guard that does not wait, unless the test says so.
  [[nodiscard]] FileGuard guard(base::Duration wait = 0s) const {
    return base::value_or_throw(FileGuard::open(file_, {.wait = wait}));
  }
  std::string write(std::uint64_t token, std::string_view bytes) const {
    return answer(guard().write(FencingToken{token}, bytes));
  }
  [[nodiscard]] std::optional<FencingToken> newest() const {
    return base::value_or_throw(guard().newest());
  }
  // Returns how many descriptors of this process refer to the file.
  static std::ptrdiff_t times_opened(const std::filesystem::path& path) {
    return std::ranges::count_if(std::filesystem::directory_iterator("/proc/self/fd"),
                                 [&](const auto& descriptor) {
                                   std::error_code gone;
                                   return std::filesystem::read_symlink(descriptor, gone) == path;
                                 });
  }
  // Waits until a second caller has opened the fence, or has failed to wait.
  void await_waiter(const std::future<base::Result<void>>& waiting) const {
    while (times_opened(fence_) < 2 && waiting.wait_for(0s) != std::future_status::ready) {
      std::this_thread::yield();
    }
  }

  tests::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_ / "report.txt";
  const std::filesystem::path fence_ = folder_ / "report.txt.fence";
};

TEST_F(FileGuardTest, AnOlderTokenIsRejectedAndTheFileIsUnchanged) {
  EXPECT_EQ(write(7, "seven"), "accepted");
  EXPECT_EQ(write(6, "six"), "lost");
  EXPECT_EQ(contents(file_), "seven");
  const auto refused = guard().write(FencingToken{6}, "six");
  EXPECT_NE(refused.error().message.find("token 7 was seen"), std::string::npos);
}

TEST_F(FileGuardTest, AnEqualAndANewerTokenAreAccepted) {
  EXPECT_EQ(write(7, "seven"), "accepted");
  EXPECT_EQ(write(7, "seven again"), "accepted");
  EXPECT_EQ(contents(file_), "seven again");
  EXPECT_EQ(write(8, ""), "accepted");
  EXPECT_EQ(contents(file_), "");
  EXPECT_TRUE(std::filesystem::exists(file_));
}

TEST_F(FileGuardTest, EachOfManyTokensIsRemembered) {
  for (std::uint64_t token = 1; token <= 9; ++token) {
    EXPECT_EQ(write(token, "x"), "accepted");
    EXPECT_EQ(newest(), FencingToken{token});
    EXPECT_EQ(write(token - 1, "x"), "lost");
  }
}

TEST_F(FileGuardTest, ATokenFromTheFarFutureIsATypedErrorAndIsNotRemembered) {
  EXPECT_EQ(write(UINT64_MAX, "most"), "invalid_argument");
  EXPECT_FALSE(std::filesystem::exists(fence_));
  EXPECT_EQ(write(0, "least"), "accepted");
  EXPECT_EQ(newest(), FencingToken{0});
  EXPECT_EQ(answer(guard().check(FencingToken{UINT64_MAX})), "invalid_argument");
  EXPECT_EQ(write(7, "seven"), "accepted");
}

TEST_F(FileGuardTest, ACheckRemembersWithoutWriting) {
  EXPECT_EQ(newest(), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(fence_)) << "a question makes no file";
  EXPECT_EQ(answer(guard().check(FencingToken{7})), "accepted");
  EXPECT_FALSE(std::filesystem::exists(file_));
  EXPECT_EQ(answer(guard().check(FencingToken{6})), "lost");
  EXPECT_EQ(newest(), FencingToken{7});
}

TEST_F(FileGuardTest, OthersTimeOutWhileAPassIsHeld) {
  auto inside = guard().enter(FencingToken{7});
  ASSERT_TRUE(inside);
  EXPECT_EQ(write(8, "eight"), "timed_out");
  EXPECT_EQ(newest(), FencingToken{7});
  EXPECT_EQ(answer(inside->write("seven")), "accepted");
  {
    const FilePass ended = *std::move(inside);
  }
  EXPECT_EQ(write(8, "eight"), "accepted");
}

TEST_F(FileGuardTest, AWaiterIsJudgedAfterThePassBeforeIt) {
  auto inside = guard().enter(FencingToken{6});
  ASSERT_TRUE(inside);
  auto waiting =
      std::async(std::launch::async, [&] { return guard(60s).write(FencingToken{7}, "seven"); });
  await_waiter(waiting);
  testing::put(fence_, "00000000000000000008 00000000000000000008\n");
  EXPECT_EQ(answer(inside->write("eight")), "accepted");
  {
    const FilePass ended = *std::move(inside);
  }
  EXPECT_EQ(answer(waiting.get()), "lost");
  EXPECT_EQ(contents(file_), "eight");
}

// A waiter for the lock of a file that was removed meanwhile gets a lock that excludes no one.
TEST_F(FileGuardTest, AWaiterForARemovedFenceUsesTheNewFence) {
  auto inside = guard().enter(FencingToken{7});
  ASSERT_TRUE(inside);
  auto waiting = std::async(std::launch::async, [&] { return guard(60s).check(FencingToken{8}); });
  await_waiter(waiting);
  std::filesystem::remove(fence_);
  {
    const FilePass ended = *std::move(inside);
  }
  EXPECT_EQ(answer(waiting.get()), "accepted");
  EXPECT_EQ(newest(), FencingToken{8});
}

// The same as after a crash in the middle of writing a token.
TEST_F(FileGuardTest, AHalfWrittenTokenDoesNotCount) {
  EXPECT_EQ(write(5, "five"), "accepted");
  EXPECT_EQ(write(7, "seven"), "accepted");
  std::string lines = contents(fence_);
  ASSERT_EQ(lines.size(), 84U);
  lines.replace(19, 1, "9");  // in the line of 5, which is the next to be written: the first number
  testing::put(fence_, lines);
  EXPECT_EQ(newest(), FencingToken{7});
  EXPECT_EQ(write(6, "six"), "lost");
  EXPECT_EQ(write(8, "eight"), "accepted");
  EXPECT_EQ(newest(), FencingToken{8});
  EXPECT_EQ(write(7, "seven"), "lost");
}

TEST_F(FileGuardTest, ACorruptFenceRejectsAndStaysUnchanged) {
  for (const std::string_view damage :
       {"x", "not a fence", "00000000000000000007 00000000000000000008\n",
        "99999999999999999999 99999999999999999999\n", "7 7\n", "2", "0000000000000000000x",
        "00000000000000000007\n", "00000000000000000007 1",
        "00000000000000000007 00000000000000000007x"}) {
    testing::put(fence_, damage);
    EXPECT_EQ(write(7, "seven"), "corrupt") << damage;
    EXPECT_EQ(answer(guard().newest()), "corrupt") << damage;
    EXPECT_EQ(contents(fence_), damage);
  }
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(FileGuardTest, APipeInThePlaceOfAFenceRejectsAndHangsNobody) {
  ASSERT_EQ(::mkfifo(fence_.c_str(), 0600), 0);
  EXPECT_EQ(write(7, "seven"), "corrupt");
  EXPECT_EQ(guard().newest().error().code, base::ErrorCode::corrupt);
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(FileGuardTest, AFileThatIsLinkedInThePlaceOfAFenceIsNotWrittenTo) {
  const auto victim = file_.parent_path() / "victim";
  std::ofstream(victim).close();
  std::filesystem::create_hard_link(victim, fence_);
  EXPECT_EQ(write(7, "seven"), "corrupt");
  EXPECT_EQ(guard().newest().error().code, base::ErrorCode::corrupt);
  EXPECT_EQ(std::filesystem::file_size(victim), 0U);
}

TEST_F(FileGuardTest, AReaderThatLocksTheFenceIsATimeOutThatSaysHowToFindIt) {
  EXPECT_EQ(write(7, "seven"), "accepted");
  const int reader = ::open(fence_.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  ASSERT_EQ(::flock(reader, LOCK_EX), 0);
  const auto refused = guard().check(FencingToken{8});
  ::close(reader);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::timed_out);
  EXPECT_NE(refused.error().message.find("fuser"), std::string::npos) << refused.error().message;
}

TEST_F(FileGuardTest, AnEmptyFenceHasSeenNothing) {
  testing::put(fence_, "");
  EXPECT_EQ(newest(), std::nullopt);
  EXPECT_EQ(write(7, "seven"), "accepted");
}

// The same as after a crash in the middle of writing the very first token, which was never
// accepted.
TEST_F(FileGuardTest, AFenceWithHalfOfItsFirstTokenHasSeenNothing) {
  const std::string line = "00000000000000000009 00000000000000000009\n";
  for (std::size_t size = 0; size < line.size(); ++size) {
    testing::put(fence_, std::string_view(line).substr(0, size));
    EXPECT_EQ(answer(guard().newest()), "accepted") << size;
    EXPECT_EQ(write(7, "seven"), "accepted") << size;
    EXPECT_EQ(answer(guard().check(FencingToken{6})), "lost") << size;
  }
  testing::put(fence_, line);
  EXPECT_EQ(write(7, "seven"), "lost");
}

TEST_F(FileGuardTest, RemovesFilesThatACrashLeftBehind) {
  testing::put(folder_ / "report.txt.fence-new", "half of the contents of someb");
  EXPECT_EQ(write(7, "seven"), "accepted");
  EXPECT_EQ(contents(file_), "seven");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "report.txt.fence-new"));
}

TEST_F(FileGuardTest, AFileKeepsItsPermissions) {
  testing::put(file_, "old");
  std::filesystem::permissions(file_, std::filesystem::perms(0640));
  EXPECT_EQ(write(7, "new"), "accepted");
  EXPECT_EQ(std::filesystem::status(file_).permissions(), std::filesystem::perms(0640));
}

// It may have another owner now.
TEST_F(FileGuardTest, AFileLosesTheRightToRunAsItsOwner) {
  testing::put(file_, "old");
  std::filesystem::permissions(file_, std::filesystem::perms(06755));
  ASSERT_EQ(std::filesystem::status(file_).permissions(), std::filesystem::perms(06755));
  EXPECT_EQ(write(7, ""), "accepted");
  EXPECT_EQ(std::filesystem::status(file_).permissions(), std::filesystem::perms(0755));
}

TEST_F(FileGuardTest, AFolderHasOneFenceForAllItsPaths) {
  EXPECT_EQ(write(7, "seven"), "accepted");
  std::filesystem::create_directory_symlink(folder_.path(), folder_ / "link");
  std::filesystem::create_directory(folder_ / "sub");
  for (const std::filesystem::path& same :
       {folder_ / "link/report.txt", folder_ / "sub/../report.txt", folder_ / "./report.txt"}) {
    const auto other = FileGuard::open(same);
    ASSERT_TRUE(other);
    EXPECT_EQ(other->fence_file(), guard().fence_file());
    EXPECT_EQ(answer(other->write(FencingToken{6}, "six")), "lost");
  }
}

// If the link leads elsewhere later, its fence must still be the same.
TEST_F(FileGuardTest, ALinkHasItsOwnFenceAndIsNotReplaced) {
  testing::put(folder_ / "target", "untouched");
  std::filesystem::create_symlink("target", file_);
  EXPECT_EQ(answer(guard().check(FencingToken{7})), "accepted");
  EXPECT_EQ(write(6, "six"), "lost");
  EXPECT_EQ(write(7, "seven"), "invalid_argument");
  EXPECT_TRUE(std::filesystem::is_symlink(file_));
  EXPECT_EQ(contents(folder_ / "target"), "untouched");
}

TEST_F(FileGuardTest, AFolderCanBeGuardedButNotWritten) {
  std::filesystem::create_directory(file_);
  EXPECT_EQ(answer(guard().check(FencingToken{7})), "accepted");
  EXPECT_EQ(answer(guard().check(FencingToken{6})), "lost");
  EXPECT_EQ(write(7, "seven"), "invalid_argument");
  EXPECT_TRUE(std::filesystem::is_directory(file_));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "report.txt.fence-new"));
}

TEST_F(FileGuardTest, AnInvalidPathIsATypedError) {
  for (const char* const path : {"", "/", ".", "..", "folder/", "folder/.."}) {
    EXPECT_EQ(answer(FileGuard::open(path)), "invalid_argument") << path;
  }
  const auto nowhere = FileGuard::open(folder_ / "no/such/folder/file");
  ASSERT_TRUE(nowhere);
  EXPECT_EQ(answer(nowhere->write(FencingToken{7}, "seven")), "unavailable");
  std::filesystem::create_directory(fence_);
  EXPECT_EQ(write(7, "seven"), "unavailable");
}

TEST_F(FileGuardTest, AFileInTheWorkingDirectoryNeedsNoFolder) {
  const auto here = FileGuard::open("report.txt");
  ASSERT_TRUE(here);
  EXPECT_EQ(here->file(), std::filesystem::current_path() / "report.txt");
}

TEST_F(FileGuardTest, TheNewestOfConcurrentWritesStays) {
  constexpr std::uint64_t kTokens = 200;
  std::atomic<std::uint64_t> next = 0;
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        const FileGuard mine = guard(60s);
        for (std::uint64_t token = ++next; token <= kTokens; token = ++next) {
          const std::string said = answer(mine.write(FencingToken{token}, std::to_string(token)));
          wrong += said == "accepted" || said == "lost" ? 0 : 1;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(contents(file_), std::to_string(kTokens));
}

}  // namespace
}  // namespace holdfast::fence
