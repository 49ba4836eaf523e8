#include <holdfast/engines/sqlite/internal/database_file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <functional>

#include <gtest/gtest.h>

#include <holdfast/engines/sqlite/testing_support.h>

namespace {

// Called before a mode is set.
std::function<void()> before_chmod;

}  // namespace

// The library finds it here before that of the C library.
extern "C" int chmod(const char* file, mode_t mode) noexcept {
  if (before_chmod) {
    before_chmod();
  }
  return static_cast<int>(::syscall(SYS_fchmodat, AT_FDCWD, file, mode));
}

namespace holdfast::engines::sqlite::internal {
namespace {

struct flock whole_file(short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

TEST(MakeFile, KeepsTheLocksThatAnotherThreadHasOnTheFileByThen) {
  const testing::Folder folder;
  const std::filesystem::path file = folder / "db";
  int fd = -1;
  before_chmod = [&] {
    fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock = whole_file(F_WRLCK);
    EXPECT_EQ(fcntl(fd, F_SETLK, &lock), 0);
  };
  EXPECT_TRUE(make_file(file, 0640));
  before_chmod = nullptr;
  ASSERT_GE(fd, 0);
  const int seen_by_another_process = testing::in_child([&] {
    struct flock lock = whole_file(F_WRLCK);
    return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK ? 1 : 0;
  });
  EXPECT_EQ(seen_by_another_process, 1);
  close(fd);
}

TEST(MakeFile, GivesAFileItsModeWhateverTheUmaskAndLeavesOneThatExistsAsItIs) {
  const testing::Folder folder;
  const std::filesystem::path file = folder / "db";
  const auto mode_of_file = [&] {
    struct stat status{};
    EXPECT_EQ(stat(file.c_str(), &status), 0);
    return status.st_mode & 07777U;
  };
  const mode_t before = umask(077);
  EXPECT_TRUE(make_file(file, 0664));
  umask(before);
  EXPECT_EQ(mode_of_file(), 0664U);
  EXPECT_TRUE(make_file(file, 0600));
  EXPECT_EQ(mode_of_file(), 0664U);
  EXPECT_FALSE(make_file(folder / "missing" / "db", 0600));
}

}  // namespace
}  // namespace holdfast::engines::sqlite::internal
