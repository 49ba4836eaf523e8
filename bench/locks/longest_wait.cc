#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <tests/support/redis_server.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/locks/child.h"
#include "bench/locks/workloads.h"

namespace holdfast::bench_locks {

namespace {

constexpr int kThreads = 8;
constexpr std::chrono::milliseconds kHold(5);

// A number in a file that both processes see.
class SharedCounter {
 public:
  explicit SharedCounter(const std::string& file) {
    const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void* const memory =
        fd >= 0 && ftruncate(fd, sizeof(Number)) == 0
            ? mmap(nullptr, sizeof(Number), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
            : MAP_FAILED;
    if (memory == MAP_FAILED) {
      throw std::system_error(errno, std::generic_category(), file);
    }
    close(fd);
    number_ = static_cast<Number*>(memory);
  }
  ~SharedCounter() { munmap(number_, sizeof(Number)); }
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;

  [[nodiscard]] std::uint64_t value() const { return *number_; }
  std::uint64_t add_one() { return (*number_)++; }

 private:
  using Number = std::atomic<std::uint64_t>;
  Number* number_ = nullptr;
};

// Returns how many others held the name before this caller did.
std::uint64_t hold_once(locks::LockProvider& provider, SharedCounter& holds) {
  const std::uint64_t before = holds.value();
  const auto lock = provider.acquire("job");
  const std::uint64_t mine = holds.add_one();
  std::this_thread::sleep_for(kHold);
  return mine - before;
}

Report longest_wait(std::string_view engine, const std::string& url, const std::string& counter,
                    Seconds time) {
  SharedCounter holds(counter);
  Child other({std::filesystem::read_symlink("/proc/self/exe"), "--take-turns", url, counter});
  locks::LockProvider provider(base::value_or_throw(engines::open_store(url)));
  std::uint64_t longest = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          (void)hold_once(provider, holds);
        }
      });
    }
    const auto end = std::chrono::steady_clock::now() + time;
    do {
      other.say("acquire");
      longest = std::max<std::uint64_t>(longest, std::stoull(other.hear()));
    } while (std::chrono::steady_clock::now() < end);
    for (std::jthread& thread : threads) {
      thread.request_stop();
    }
  }
  return {.workload = "L7",
          .about = std::string(engine) +
                   ": a waiter beside another process with 8 threads, holds of 5 ms",
          .rows = {{"longest wait, in holds", static_cast<double>(longest), ""}},
          .targets = {{"at most 40", longest <= 40}}};
}

}  // namespace

int take_turns(const std::string& url, const std::string& counter) {
  locks::LockProvider provider(base::value_or_throw(engines::open_store(url)));
  SharedCounter holds(counter);
  for (std::string order; std::getline(std::cin, order);) {
    std::cout << hold_once(provider, holds) << std::endl;
  }
  return 0;
}

Report sqlite_longest_wait(Seconds time) {
  const tests::TemporaryFolder folder;
  return longest_wait("SQLite", "sqlite:" + (folder / "locks.db").string(), folder / "holds", time);
}

Report redis_longest_wait(Seconds time) {
  const tests::TemporaryFolder folder;
  const tests::RedisServer server;
  return longest_wait("Redis", server.url(), folder / "holds", time);
}

}  // namespace holdfast::bench_locks
