#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tests/support/redis_server.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/locks/child.h"
#include "bench/locks/workloads.h"

namespace holdfast::bench_locks {

namespace {

// One cell of the grid: how many threads each of two processes has, and how long one holds the
// name.
struct Crowd {
  int here;
  int there;
  std::chrono::milliseconds hold;
};

// A cell ends after so many holds, or when its time is over.
constexpr std::uint64_t kHolds = 100;
constexpr std::uint64_t kMostHolds = 40;

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

// The longest wait of a caller, in holds of others.
class Longest {
 public:
  void add(std::uint64_t wait) {
    for (std::uint64_t seen = value_; seen < wait && !value_.compare_exchange_weak(seen, wait);) {
    }
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

// When this thread joined the queue of waiters, in holds.
thread_local std::optional<std::uint64_t> waits_since;

locks::ProviderOptions note_waits(const SharedCounter& holds) {
  locks::ProviderOptions options;
  options.metrics.count = [&holds](std::string_view counter, std::string_view, std::uint64_t) {
    if (counter == "contended") waits_since = holds.value();
  };
  return options;
}

// The threads of one process, which acquire the name again and again until this is destroyed.
class Threads {
 public:
  Threads(locks::LockProvider& provider, SharedCounter& holds, Longest& longest, int count,
          std::chrono::milliseconds hold) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([&, hold](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          waits_since.reset();
          const auto lock = provider.acquire("job");
          const std::uint64_t now = holds.add_one();
          longest.add(now - waits_since.value_or(now));
          std::this_thread::sleep_for(hold);
        }
      });
    }
  }
  // All at once: each of them waits for the others' holds.
  ~Threads() {
    for (std::jthread& thread : threads_) {
      thread.request_stop();
    }
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  std::vector<std::jthread> threads_;
};

std::uint64_t longest_wait(const std::string& url, const std::string& counter, const Crowd& crowd,
                           Seconds time) {
  SharedCounter holds(counter);
  const std::uint64_t begin = holds.value();
  Child other({std::filesystem::read_symlink("/proc/self/exe"), "--take-turns", url, counter,
               std::to_string(crowd.there), std::to_string(crowd.hold.count())});
  (void)other.hear();  // it is ready
  locks::LockProvider provider(base::value_or_throw(engines::open_store(url)), note_waits(holds));
  Longest longest;
  {
    const Threads threads(provider, holds, longest, crowd.here, crowd.hold);
    other.say("begin");
    const auto end = std::chrono::steady_clock::now() + time;
    while (holds.value() < begin + kHolds && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    other.say("end");
  }
  longest.add(std::stoull(other.hear()));
  return longest.value();
}

Report longest_waits(std::string_view engine, const std::string& url, const std::string& counter,
                     Seconds time) {
  Report report{.workload = "L7",
                .about = std::string(engine) + ": the longest wait among two processes, in holds",
                .rows = {},
                .targets = {}};
  bool is_reached = true;
  for (const auto& [here, there] : {std::pair(1, 1), {2, 1}, {4, 1}, {8, 1}, {4, 4}, {8, 8}}) {
    for (const int hold : {0, 5, 20, 50}) {
      const std::uint64_t longest =
          longest_wait(url, counter, {here, there, std::chrono::milliseconds(hold)}, time);
      is_reached = is_reached && longest <= kMostHolds;
      report.rows.push_back({fmt::format("{} and {} threads, {} ms", here, there, hold),
                             static_cast<double>(longest), ""});
    }
  }
  report.targets.push_back({fmt::format("at most {}", kMostHolds), is_reached});
  return report;
}

}  // namespace

int take_turns(const std::string& url, const std::string& counter, int count,
               std::chrono::milliseconds hold) {
  SharedCounter holds(counter);
  locks::LockProvider provider(base::value_or_throw(engines::open_store(url)), note_waits(holds));
  Longest longest;
  std::cout << "ready\n" << std::flush;
  std::string line;
  std::getline(std::cin, line);  // begin
  {
    const Threads threads(provider, holds, longest, count, hold);
    std::getline(std::cin, line);  // end
  }
  std::cout << longest.value() << '\n' << std::flush;
  return 0;
}

Report sqlite_longest_wait(Seconds time) {
  const tests::TemporaryFolder folder;
  return longest_waits("SQLite", "sqlite:" + (folder / "locks.db").string(), folder / "holds",
                       time);
}

Report redis_longest_wait(Seconds time) {
  const tests::TemporaryFolder folder;
  const tests::RedisServer server;
  return longest_waits("Redis", server.url(), folder / "holds", time);
}

}  // namespace holdfast::bench_locks
