// Two processes, one repository. One of them is stopped past its lease, at the worst moments, while
// the other takes over; when it goes on it must not undo what the other did.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <functional>
#include <iostream>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <tests/objects/ledger.h>
#include <tests/recipes/processes.h>
#include <tests/support/temporary_folder.h>

namespace holdfast::tests {
namespace {

using base::ErrorCode;
using base::value_or_throw;
using objects::SaveWhen;

// Stops this process, all its threads, once.
std::function<void()> stop_once() {
  return [first = true]() mutable {
    if (std::exchange(first, false)) ::raise(SIGSTOP);
  };
}

[[noreturn]] void run_child(const std::function<void()>& work) {
  int status = 0;
  try {
    work();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    status = 1;
  }
  ::_exit(status);
}

void expect_success(pid_t child) {
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void enter(objects::ObjectHost& host, const std::string& entry) {
  value_or_throw(host.call<&Ledger::enter>("book", entry));
}

class StoppedProcess : public ::testing::Test {
 protected:
  // The first process makes an entry that is answered, then one in which it is stopped and which is
  // not, and, woken up, a last one. What is not as it should be ends it with another status than 0.
  void first_process(const std::function<void()>& arm) {
    LedgerHost host(file_, "first", SaveWhen::each_call);
    enter(*host, "first 1");
    arm();
    const auto stopped = host->call<&Ledger::enter>("book", "first 2");
    if (stopped || stopped.error().code != ErrorCode::lost) {
      throw std::runtime_error("the call was not lost: " +
                               (stopped ? "it was done" : to_string(stopped.error())));
    }
    const auto entries = value_or_throw(host->call<&Ledger::entries>("book"));  // waits its turn
    if (entries != std::set<std::string>{"first 1", "second 1", "second 2"}) {
      throw std::runtime_error("not the successor's ledger");
    }
    enter(*host, "first 3");
    value_or_throw(host->stop());
  }

  void expect_no_lost_update(const std::function<void()>& arm) {
    const pid_t first = ::fork();  // while there are no threads
    if (first == 0) run_child([&] { first_process(arm); });
    int status = 0;
    ASSERT_EQ(::waitpid(first, &status, WUNTRACED), first);
    ASSERT_TRUE(WIFSTOPPED(status)) << "it ended before it was stopped";
    {
      LedgerHost host(file_, "second", SaveWhen::each_call);
      enter(*host, "second 1");  // when the lease is over
      ::kill(first, SIGCONT);
      enter(*host, "second 2");
      value_or_throw(host->stop());
    }
    expect_success(first);
    LedgerHost host(file_, "auditor", SaveWhen::periodically);
    EXPECT_EQ(value_or_throw(host->call<&Ledger::entries>("book")),
              (std::set<std::string>{"first 1", "first 3", "second 1", "second 2"}));
  }

  TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_ / "ledger.db";
};

TEST_F(StoppedProcess, InTheMethod) {
  expect_no_lost_update([] { Ledger::before_entry = stop_once(); });
}

// After the last look at the lease, with the data in its hands: only the token is between it and
// the successor's entries.
TEST_F(StoppedProcess, OnTheWayToTheStore) {
  expect_no_lost_update([] { Ledger::after_to_data = stop_once(); });
}

// The report of two processes that share a ledger to the test.
struct Progress {
  std::atomic<bool> over = false;
  std::array<std::atomic<int>, 2> entries{};
};

// Enters until the end is announced, each entry until it is answered: one made twice is one.
void enter_until_over(const std::filesystem::path& file, std::size_t me, Progress& progress) {
  const std::string name = me == 0 ? "anna" : "bert";
  LedgerHost host(file, name, SaveWhen::each_call);
  while (!progress.over) {
    const std::string entry = name + " " + std::to_string(progress.entries[me]);
    const auto done = host->call<&Ledger::enter>("book", entry);
    if (done) {
      // The other's turn, every now and then.
      if (++progress.entries[me] % 10 == 0) static_cast<void>(host->deactivate<Ledger>("book"));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    } else if (done.error().code != ErrorCode::lost && done.error().code != ErrorCode::busy &&
               done.error().code != ErrorCode::unavailable) {
      throw base::Exception(done.error());
    }
  }
  value_or_throw(host->stop());
}

// Both work all the time, and each is stopped at times that nobody has chosen.
TEST_F(StoppedProcess, AtAnyTime) {
  constexpr int kStops = 8;
  const Shared<Progress> progress;
  std::array<pid_t, 2> workers{};
  for (std::size_t i = 0; i < workers.size(); ++i) {
    workers[i] = ::fork();
    if (workers[i] == 0) run_child([&] { enter_until_over(file_, i, *progress); });
  }
  const auto entries = [&] { return progress->entries[0] + progress->entries[1]; };
  for (unsigned stop = 0; stop < kStops; ++stop) {
    const int before = entries();
    EXPECT_TRUE(eventually([&] { return entries() > before + 15; }));
    // The other one goes on: at once, or when the lease of this one is over. Unless this one has
    // the file itself, in the middle of a transaction: then it goes on for a moment, and is stopped
    // again.
    const std::atomic<int>& other = progress->entries[(stop + 1) % 2];
    EXPECT_TRUE(eventually([&] {
      ::kill(workers[stop % 2], SIGSTOP);
      const int reached = other + 15;
      const auto tired = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (other <= reached && std::chrono::steady_clock::now() < tired) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      ::kill(workers[stop % 2], SIGCONT);
      return other > reached;
    }));
  }
  progress->over = true;
  for (const pid_t worker : workers) expect_success(worker);
  LedgerHost host(file_, "auditor", SaveWhen::periodically);
  const auto stored = value_or_throw(host->call<&Ledger::entries>("book"));
  for (std::size_t i = 0; i < workers.size(); ++i) {
    for (int entry = 0; entry < progress->entries[i]; ++entry) {
      EXPECT_TRUE(stored.contains((i == 0 ? "anna " : "bert ") + std::to_string(entry))) << entry;
    }
  }
}

}  // namespace
}  // namespace holdfast::tests
