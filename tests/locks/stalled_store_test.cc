#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <stop_token>

#include <gtest/gtest.h>
#include <tests/support/patience.h>
#include <tests/support/redis_server.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/engines/redis/redis_store.h>
#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/locks/lock_provider.h>

// A disk that stalls: while it does, no write and no flush of this process returns. SQLite calls
// these functions, and finds them here before those of the C library.
namespace {

std::atomic<bool> is_disk_stalled = false;
std::atomic<int> stalled_calls = 0;

void pass_disk() {
  if (is_disk_stalled) {
    ++stalled_calls;
    is_disk_stalled.wait(true);
  }
}

class StalledDisk {
 public:
  StalledDisk() { is_disk_stalled = true; }
  ~StalledDisk() {
    is_disk_stalled = false;
    is_disk_stalled.notify_all();
  }
  StalledDisk(const StalledDisk&) = delete;
  StalledDisk& operator=(const StalledDisk&) = delete;
};

}  // namespace

extern "C" int fdatasync(int file) {
  pass_disk();
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}

extern "C" ssize_t pwrite64(int file, const void* data, size_t size, off64_t at) {
  pass_disk();
  return ::syscall(SYS_pwrite64, file, data, size, at);
}

namespace holdfast::locks {
namespace {

using namespace std::chrono_literals;
using tests::eventually;

const AcquireOptions kBrief{.ttl = 1s};

TEST(StalledStore, LostFiresWhileTheDiskOfSqliteStalls) {
  const tests::TemporaryFolder folder;
  LockProvider provider(
      base::value_or_throw(engines::sqlite::open_store({.file = folder / "locks.db"})));
  const Lock lock = provider.acquire("job", kBrief);
  const std::stop_token lost = lock.lost();
  const StalledDisk stalled;
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_GT(stalled_calls, 0);  // a renewal is blocked all the while
}

TEST(StalledStore, LostFiresWhileTheRedisServerIsStopped) {
  tests::RedisServer server;
  LockProvider provider(base::value_or_throw(
      engines::redis::open_store({.host = "127.0.0.1", .port = server.port()})));
  const Lock lock = provider.acquire("job", kBrief);
  const std::stop_token lost = lock.lost();
  server.suspend();
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  server.resume();
}

}  // namespace
}  // namespace holdfast::locks
