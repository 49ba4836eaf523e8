#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/locks/child.h"
#include "bench/scale/row.h"

namespace holdfast::bench_scale {

namespace {

using bench_locks::Child;
using namespace std::chrono_literals;

constexpr const char* kName = "scale:crowd";
constexpr int kProcesses = 10;

locks::LockProvider open_provider(const std::string& url) {
  return locks::LockProvider(base::value_or_throw(engines::open_store(url)));
}

std::vector<std::string> role(std::vector<std::string> words) {
  words.insert(words.begin(), {std::filesystem::read_symlink("/proc/self/exe"), "--as"});
  return words;
}

// Returns how often this process has waited so far.
long sleeps() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nvcsw;
}

// Returns the processor time of the threads of another process so far, in seconds. The clock ticks
// of /proc/PID/stat are too long for a process that sleeps.
double cpu_time_of(int pid) {
  double nanoseconds = 0;
  for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid))) {
    std::ifstream in(task.path() / "schedstat");
    double spent = 0;
    in >> spent;
    nanoseconds += spent;
  }
  return nanoseconds / 1e9;
}

// Processes that wait for a name of a SQLite file, which this process holds.
class Waiters {
 public:
  explicit Waiters(std::size_t count)
      : url_("sqlite:" + (folder_ / "locks.db").string()),
        provider_(open_provider(url_)),
        lock_(provider_.acquire(kName)) {
    for (std::size_t i = 0; i < count; ++i) {
      children_.push_back(std::make_unique<Child>(role({"waiter", url_})));
    }
    for (const auto& child : children_) pids_.push_back(std::stoi(child->hear()));
    // A waiter cannot be seen from outside; this is longer than it takes to start waiting.
    std::this_thread::sleep_for(500ms);
  }

  [[nodiscard]] double cpu_time() const {
    double total = 0;
    for (const int pid : pids_) total += cpu_time_of(pid);
    return total;
  }
  // Releases the name; returns the sum of what the waiters say when they had it.
  double let_all_have_it() {
    base::value_or_throw(lock_.release());
    double total = 0;
    for (const auto& child : children_) total += std::stod(child->hear());
    return total;
  }

 private:
  const tests::TemporaryFolder folder_;
  const std::string url_;
  locks::LockProvider provider_;
  locks::Lock lock_;
  std::vector<std::unique_ptr<Child>> children_;
  std::vector<int> pids_;
};

int wait_once(const std::string& url) {
  auto provider = open_provider(url);
  std::cout << getpid() << std::endl;
  const long before = sleeps();
  auto lock = provider.acquire(kName, {.wait = 10min});
  const long after = sleeps();
  base::value_or_throw(lock.release());
  std::cout << after - before << std::endl;
  return 0;
}

int join_crowd(const std::string& url, std::size_t threads) {
  auto provider = open_provider(url);
  {
    std::vector<std::jthread> waiters;
    for (std::size_t i = 0; i < threads; ++i) {
      waiters.emplace_back([&] {
        auto lock = provider.acquire(kName, {.wait = 10min});
        base::value_or_throw(lock.release());
      });
    }
    while (provider.waiting() < threads) std::this_thread::sleep_for(1ms);
    std::cout << "ready" << std::endl;
  }
  std::cout << "done" << std::endl;
  return 0;
}

Measured idle_waiters(Context& context, std::size_t processes) {
  Waiters waiters(processes);
  const Seconds wall(context.quick() ? 0.1 : 5.0);
  const double before = waiters.cpu_time();
  std::this_thread::sleep_for(wall);
  const double share = (waiters.cpu_time() - before) / wall.count() * 100;
  static_cast<void>(waiters.let_all_have_it());
  return {.value = share};
}

Measured wake_ups(Context& /*context*/, std::size_t processes) {
  Waiters waiters(processes);
  return {.value = waiters.let_all_have_it() / static_cast<double>(processes)};
}

Measured crowd(const std::string& url, std::size_t threads) {
  auto provider = open_provider(url);
  auto lock = provider.acquire(kName);
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(std::make_unique<Child>(role({"crowd", url, std::to_string(threads)})));
  }
  for (const auto& child : children) static_cast<void>(child->hear());
  const auto begin = std::chrono::steady_clock::now();
  base::value_or_throw(lock.release());
  for (const auto& child : children) static_cast<void>(child->hear());
  const Seconds spent = std::chrono::steady_clock::now() - begin;
  const auto grants = static_cast<double>(kProcesses * threads);
  return {.value = spent.count() * 1e6 / grants,
          .note = fmt::format("{} grants in {:.2f} s", grants, spent.count())};
}

Measured redis_crowd(Context& context, std::size_t threads) {
  return crowd(context.redis_url(), threads);
}
Measured postgresql_crowd(Context& context, std::size_t threads) {
  return crowd(context.postgresql_url(), threads);
}

using Measure = Measured(Context& context, std::size_t size);

Row row_of_processes(const char* name, const char* about, const char* unit, Measure* measure) {
  return {.name = name,
          .about = about,
          .size = "processes",
          .unit = unit,
          .sizes = {5, 50, 500},
          .quick_sizes = {1, 2},
          .measure = measure};
}

Row row_of_crowd(const char* name, const char* about, Measure* measure) {
  return {.name = name,
          .about = about,
          .size = "threads in each",
          .unit = "µs",
          .sizes = {1, 10, 100},
          .quick_sizes = {1, 2},
          .measure = measure};
}

}  // namespace

int run_as(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "waiter") return wait_once(words[1]);
  if (words.size() == 3 && words[0] == "crowd") return join_crowd(words[1], std::stoul(words[2]));
  throw std::invalid_argument("there is no such role");
}

std::vector<Row> process_rows() {
  return {
      row_of_processes("sqlite-idle",
                       "SQLite: the processor time of processes that wait for a held name",
                       "% of a core", idle_waiters),
      row_of_processes("sqlite-wake-ups",
                       "SQLite: how often a process wakes up until it is granted the name",
                       "wake-ups", wake_ups),
      row_of_crowd("redis-crowd",
                   "Redis: one grant of a name that threads of 10 processes wait for", redis_crowd),
      row_of_crowd("postgresql-crowd",
                   "PostgreSQL: one grant of a name that threads of 10 processes wait for",
                   postgresql_crowd)};
}

}  // namespace holdfast::bench_scale
