// Threads that do all operations at the same time. Only the locks protect the data, so that a
// thread sanitizer, and the sums at the end, detect every mistake.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <mutex>
#include <optional>
#include <random>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/local/key_lock.h>
#include <holdfast/local/testing_support.h>

namespace holdfast::local {
namespace {

using namespace std::chrono_literals;
using testing_support::Guarded;
using testing_support::stress_rounds;
using testing_support::wait_until;
using testing_support::wait_until_waiting;

// The counts of one thread, or of all of them.
struct Tally {
  std::uint64_t acquired = 0;
  std::uint64_t writes = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t inconsistent = 0;

  void operator+=(const Tally& other) {
    acquired += other.acquired;
    writes += other.writes;
    timed_out += other.timed_out;
    cancelled += other.cancelled;
    inconsistent += other.inconsistent;
  }
};

// A stop source that another thread may fire while this one waits with its token.
class Fuse {
 public:
  std::stop_token renew() {
    const std::lock_guard guard(mutex_);
    source_ = std::stop_source();
    return source_.get_token();
  }
  void fire() {
    const std::lock_guard guard(mutex_);
    source_.request_stop();
  }

 private:
  std::mutex mutex_;
  std::stop_source source_;
};

class Worker {
 public:
  Worker(KeyLock& locks, std::vector<Guarded>& all, Fuse& fuse, unsigned seed)
      : locks_(locks), all_(all), fuse_(fuse), random_(seed) {}

  Tally run(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      one_operation(all_[random_() % all_.size()]);
    }
    return tally_;
  }

  void one_operation(Guarded& on) {
    KeyWait wait;
    switch (random_() % 13) {
      case 0: return write(on, std::optional(locks_.lock(on.key)));
      case 1: return read(on, std::optional(locks_.lock_shared(on.key)));
      case 2: return write(on, locks_.try_lock(on.key));
      case 3: return read(on, locks_.try_lock_shared(on.key));
      case 4: wait.until = soon(); return write(on, locks_.lock(on.key, wait));
      case 5: wait.until = soon(); return read(on, locks_.lock_shared(on.key, wait));
      case 6: wait.stop = fuse_.renew(); return write(on, locks_.lock(on.key, wait));
      case 7: wait.stop = fuse_.renew(); return read(on, locks_.lock_shared(on.key, wait));
      case 8: wait.priority = Priority::urgent; return write(on, locks_.lock(on.key, wait));
      case 9: wait.priority = Priority::urgent; return read(on, locks_.lock_shared(on.key, wait));
      case 10: return upgrade(on);
      case 11: return downgrade(on);
      default: return standard_locks(on);
    }
  }

  void upgrade(Guarded& on) {
    SharedGuard reader = locks_.lock_shared(on.key);
    look(on);
    if (std::optional<ExclusiveGuard> writer = reader.try_upgrade()) {
      on.write();
      ++tally_.writes;
    }
  }

  void downgrade(Guarded& on) {
    ExclusiveGuard writer = locks_.lock(on.key);
    on.write();
    ++tally_.writes;
    const std::uint64_t written = on.writes();
    const SharedGuard reader = std::move(writer).downgrade();
    look(on);
    tally_.inconsistent += written != on.writes() ? 1U : 0U;
  }

  template <class Result>
  void read(const Guarded& on, const Result& guard) {
    if (guard) {
      look(on);
    } else {
      note_failure(guard);
    }
  }

  template <class Result>
  void write(Guarded& on, const Result& guard) {
    if (guard) {
      look(on);
      on.write();
      ++tally_.writes;
    } else {
      note_failure(guard);
    }
  }

 private:
  static std::chrono::steady_clock::time_point soon() {
    return std::chrono::steady_clock::now() + 20us;
  }

  void standard_locks(Guarded& on) {
    KeyMutex mutex = locks_.mutex(on.key);
    {
      const std::shared_lock lock(mutex);
      look(on);
    }
    const std::unique_lock lock(mutex, 20us);
    lock ? write(on, std::optional(true)) : static_cast<void>(++tally_.timed_out);
  }

  // Called once per acquisition.
  void look(const Guarded& on) {
    ++tally_.acquired;
    tally_.inconsistent += on.is_consistent() ? 0U : 1U;
  }

  template <class Guard>
  void note_failure(const std::optional<Guard>&) {}
  template <class Guard>
  void note_failure(const std::expected<Guard, WaitEnd>& result) {
    ++(result.error() == WaitEnd::cancelled ? tally_.cancelled : tally_.timed_out);
  }

  KeyLock& locks_;
  std::vector<Guarded>& all_;
  Fuse& fuse_;
  std::minstd_rand random_;
  Tally tally_;
};

std::vector<Guarded> guarded_by(const std::vector<std::string>& keys) {
  return {keys.begin(), keys.end()};
}

// Runs `work(worker)` in each of the threads, while another fires their fuses.
template <class Work>
Tally run_workers(KeyLock& locks, std::vector<Guarded>& all, unsigned threads, Work work) {
  std::vector<Fuse> fuses(threads);
  std::vector<Tally> tallies(threads);
  std::jthread cancels([&](const std::stop_token& done) {
    for (std::size_t i = 0; !done.stop_requested(); ++i) {
      fuses[i % threads].fire();
      std::this_thread::yield();
    }
  });
  {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < threads; ++i) {
      workers.emplace_back([&, i] {
        Worker worker(locks, all, fuses[i], i + 1);
        tallies[i] = work(worker);
      });
    }
  }
  Tally sum;
  for (const Tally& tally : tallies) {
    sum += tally;
  }
  return sum;
}

void expect_exact(const KeyLock& locks, const std::vector<Guarded>& all, const Tally& sum) {
  std::uint64_t writes = 0;
  for (const Guarded& one : all) {
    EXPECT_TRUE(one.is_consistent());
    writes += one.writes();
  }
  EXPECT_EQ(writes, sum.writes);
  EXPECT_EQ(sum.inconsistent, 0U);
  EXPECT_EQ(locks.size(), 0U);
  EXPECT_TRUE(locks.snapshot().empty());
  const KeyLockStats stats = locks.stats();
  EXPECT_EQ(stats.acquisitions, sum.acquired);
  EXPECT_EQ(stats.timed_out, sum.timed_out);
  EXPECT_EQ(stats.cancelled, sum.cancelled);
}

TEST(KeyLockStress, EveryOperationOnAFewKeys) {
  KeyLock locks;
  std::vector<Guarded> all = guarded_by({"a", "", "a key that is too long for its entry"});
  const Tally sum =
      run_workers(locks, all, 4, [](Worker& worker) { return worker.run(stress_rounds(24'000)); });
  expect_exact(locks, all, sum);
}

TEST(KeyLockStress, EveryOperationOnOneKeyByManyThreads) {
  KeyLock locks;
  std::vector<Guarded> all = guarded_by({"k"});
  const Tally sum =
      run_workers(locks, all, 12, [](Worker& worker) { return worker.run(stress_rounds(4000)); });
  expect_exact(locks, all, sum);
}

TEST(KeyLockStress, EveryOperationOnManyKeys) {
  KeyLock locks;
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < 300; ++i) {
    keys.push_back(std::to_string(i) + std::string(i % 60, 'k'));
  }
  std::vector<Guarded> all = guarded_by(keys);
  const Tally sum =
      run_workers(locks, all, 4, [](Worker& worker) { return worker.run(stress_rounds(40'000)); });
  expect_exact(locks, all, sum);
}

TEST(KeyLockStress, ACancelThatRacesAGrantLosesNothing) {
  KeyLock locks;
  Guarded guarded("k");
  constexpr int kRounds = 300;
  std::uint64_t cancelled = 0;
  for (int i = 0; i < kRounds; ++i) {
    ExclusiveGuard held = locks.lock("k");
    std::stop_source stop;
    std::atomic<bool> go = false;
    std::jthread waits([&] {
      const auto guard = locks.lock("k", {.stop = stop.get_token()});
      guard ? guarded.write() : static_cast<void>(++cancelled);
    });
    wait_until_waiting(locks, "k", 1);
    std::jthread behind([&] { const SharedGuard guard = locks.lock_shared("k"); });
    std::jthread cancels([&] {
      wait_until([&] { return go.load(); });
      stop.request_stop();
    });
    go = true;
    held.unlock();
  }
  EXPECT_EQ(guarded.writes() + cancelled, unsigned{kRounds});
  EXPECT_EQ(locks.stats().cancelled, cancelled);
  EXPECT_EQ(locks.size(), 0U);
  EXPECT_TRUE(locks.snapshot().empty());
}

}  // namespace
}  // namespace holdfast::local
