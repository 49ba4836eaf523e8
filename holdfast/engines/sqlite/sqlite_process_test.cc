// Several processes on one file: hints, crashes, fork.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <future>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/engines/sqlite/testing_support.h>

namespace holdfast::engines::sqlite {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using base::LeaseId;
using testing::take;

// Far beyond what anything here needs, short of a hung test.
constexpr auto kPatience = 60s;

// A child that was forked before any store was opened. Its body gets a function that waits until
// the parent lets it go on.
class Child {
 public:
  using Told = std::function<void()>;

  explicit Child(const std::function<int(const Told&)>& body) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[1]);
      _exit(body([in = ends[0]] {
        char go = 0;
        if (read(in, &go, 1) != 1) {
          _exit(1);  // the test has ended
        }
      }));
    }
    close(ends[0]);
    out_ = ends[1];
  }
  ~Child() {
    close(out_);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void tell() { EXPECT_EQ(::write(out_, "g", 1), 1); }
  int wait() {
    int status = 0;
    return waitpid(pid_, &status, 0) == pid_ ? status : -1;
  }

 private:
  pid_t pid_ = 0;
  int out_ = -1;
};

bool has_open(const std::filesystem::path& file) {
  return std::ranges::any_of(std::filesystem::directory_iterator("/proc/self/fd"),
                             [&](const auto& entry) {
                               std::error_code gone;
                               return std::filesystem::read_symlink(entry, gone) == file;
                             });
}

class SqliteProcessTest : public ::testing::Test {
 protected:
  // A body that releases a name when told.
  std::function<int(const Child::Told&)> releases(std::string name) {
    return [this, name = std::move(name)](const Child::Told& told) {
      told();
      const auto store = open_store({.file = file_});
      return store && (*store)->release(name, id_) == store::ReleaseOutcome::released ? 0 : 1;
    };
  }

  testing::Folder folder_;
  const std::filesystem::path file_ = folder_ / "locks.db";
  const LeaseId id_ = LeaseId::generate();
};

TEST_F(SqliteProcessTest, AReleaseInAnotherProcessWakesAWatcher) {
  Child releaser(releases("a"));
  const auto store = testing::open({.file = file_});
  take(*store, "a", id_, 1h);
  std::promise<void> hinted;
  const auto watch = store->watch("a", [&](const auto&) { hinted.set_value(); });
  releaser.tell();
  EXPECT_EQ(hinted.get_future().wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(releaser.wait(), 0);
  EXPECT_FALSE(testing::is_held(*store, "a"));
}

TEST_F(SqliteProcessTest, AWatcherIsWokenAtOnceAndNotWhenTheListenerNextLooksByItself) {
  constexpr int kRounds = 20;
  Child releaser([&](const Child::Told& told) {
    told();
    const auto store = *open_store({.file = file_});
    for (int i = 0; i < kRounds; ++i) {
      told();
      if (store->release(std::to_string(i), id_) != store::ReleaseOutcome::released) {
        return 1;
      }
    }
    return 0;
  });
  const auto store = testing::open({.file = file_});
  releaser.tell();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i) {
    take(*store, std::to_string(i), id_, 1h);
    std::promise<void> hinted;
    const auto watch = store->watch(std::to_string(i), [&](const auto&) { hinted.set_value(); });
    releaser.tell();
    ASSERT_EQ(hinted.get_future().wait_for(kPatience), std::future_status::ready);
  }
  // A waiter that polls looks once a second.
  EXPECT_LT(std::chrono::steady_clock::now() - start, kRounds * 500ms);
}

TEST_F(SqliteProcessTest, WatchesOfAnotherNameAreNotWoken) {
  Child releaser(releases("a"));
  const auto store = testing::open({.file = file_});
  take(*store, "a", id_, 1h);
  const auto other =
      store->watch("b", [](const auto&) { ADD_FAILURE() << "nobody has released it"; });
  std::promise<void> hinted;
  const auto watch = store->watch("a", [&](const auto&) { hinted.set_value(); });
  releaser.tell();
  EXPECT_EQ(hinted.get_future().wait_for(kPatience), std::future_status::ready);
}

TEST_F(SqliteProcessTest, AReleaseIsNotHintedAgainToItsOwnProcess) {
  const auto store = testing::open({.file = file_});
  const auto other = testing::open({.file = file_});
  int hints = 0;
  const auto watch = store->watch("a", [&](const auto&) { ++hints; });
  testing::use(*store, "a");
  // Once it has received two later ones, it is done with every notice of the first.
  for (int i = 0; i < 2; ++i) {
    std::promise<void> hinted;
    const auto later = store->watch("b", [&](const auto&) { hinted.set_value(); });
    testing::use(*other, "b");
    ASSERT_EQ(hinted.get_future().wait_for(kPatience), std::future_status::ready);
  }
  EXPECT_EQ(hints, 1);
}

TEST_F(SqliteProcessTest, AWatchThatHasEndedIsNotCalledByAnotherProcess) {
  Child releaser(releases("a"));
  const auto store = testing::open({.file = file_});
  take(*store, "a", id_, 1h);
  std::promise<void> hinted;
  auto ended = store->watch("a", [](const auto&) { ADD_FAILURE() << "it has ended"; });
  const auto watch = store->watch("a", [&](const auto&) { hinted.set_value(); });
  ended->reset();
  releaser.tell();
  EXPECT_EQ(hinted.get_future().wait_for(kPatience), std::future_status::ready);
}

TEST_F(SqliteProcessTest, AWaiterSurvivesThatTheWakeFileIsTruncated) {
  const auto store = testing::open({.file = file_});
  take(*store, "a", id_, 1h);
  std::atomic<int> hints = 0;
  const auto watch = store->watch("a", [&](const auto&) { ++hints; });
  std::filesystem::resize_file(folder_ / "locks.db-wake", 0);
  EXPECT_EQ(store->release("a", id_), store::ReleaseOutcome::released);
  EXPECT_GE(hints, 1);
}

TEST_F(SqliteProcessTest, GarbageInTheWakeFileDoesNoHarm) {
  testing::write(folder_ / "locks.db-wake", std::string(4096, '\xc3'));
  Child releaser(releases("a"));
  const auto store = testing::open({.file = file_});
  take(*store, "a", id_, 1h);
  std::promise<void> hinted;
  const auto watch = store->watch("a", [&](const auto&) { hinted.set_value(); });
  releaser.tell();
  EXPECT_EQ(hinted.get_future().wait_for(kPatience), std::future_status::ready);
}

TEST_F(SqliteProcessTest, WhatAKilledProcessHeldStaysHeldUntilItsTimeIsOver) {
  base::ManualClock clock;
  const SqliteOptions options{.file = file_, .machine = {.clock = &clock}};
  Child victim([&](const Child::Told& told) {
    told();
    const auto store = *open_store(options);
    if (!store->claim("a", testing::claim_of(id_, 10s))) {
      return 1;
    }
    raise(SIGKILL);
    return 1;
  });
  victim.tell();
  EXPECT_EQ(WTERMSIG(victim.wait()), SIGKILL);
  const auto store = testing::open(options);
  EXPECT_TRUE(testing::is_held(*store, "a"));
  clock.advance(10s);
  take(*store, "a", LeaseId::generate());
}

TEST_F(SqliteProcessTest, AForkedChildCanUseNeitherTheStoreNorItsFile) {
  auto store = testing::open({.file = file_});
  auto watch = store->watch("a", [](const auto&) {});  // the listening thread is not in the child
  take(*store, "a", id_, 1h);
  const int failed = testing::in_child([&] {
    const auto is_refused = [](const auto& result) {
      return !result && result.error().code == ErrorCode::unsupported;
    };
    const store::Renewal renewal{.name = "a", .id = id_, .ttl = 1s};
    std::vector<bool> refused = {
        is_refused(store->claim("b", testing::claim_of(LeaseId::generate()))),
        is_refused(store->release("a", id_)),
        is_refused(store->renew(std::span(&renewal, 1))),
        is_refused(store->transfer("a", id_, testing::claim_of(LeaseId::generate()))),
        is_refused(store->look("a")),
        is_refused(store->list("")),
        is_refused(store->hit("h", {.limit = 1, .period = 1s})),
        is_refused(store->watch("a", [](const auto&) {})),
        is_refused(store->sweep_now()),
        is_refused(open_store({.file = file_})),
        open_store({.file = folder_ / "another.db"}).has_value(),
    };
    watch->reset();
    store.reset();
    refused.push_back(has_open(file_));
    const auto bad = std::ranges::find(refused, false);
    return bad == refused.end() ? 0 : static_cast<int>(bad - refused.begin()) + 1;
  });
  EXPECT_EQ(failed, 0)
      << "the call with this number was not refused (the last: the store was closed)";
  EXPECT_TRUE(testing::is_held(*store, "a"));
  EXPECT_EQ(store->release("a", id_), store::ReleaseOutcome::released);
}

TEST_F(SqliteProcessTest, AChildMayOpenAFileThatItsParentHasClosedAgain) {
  testing::open({.file = file_}).reset();
  EXPECT_EQ(testing::in_child([&] { return open_store({.file = file_}) ? 0 : 1; }), 0);
}

}  // namespace
}  // namespace holdfast::engines::sqlite
