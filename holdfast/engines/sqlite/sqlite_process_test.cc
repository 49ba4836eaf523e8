// Several processes on one file: hints, crashes, fork.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
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

// A child that was forked before any store was opened, and does one thing when told.
class Child {
 public:
  explicit Child(const std::function<int()>& body) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[1]);
      char go = 0;
      _exit(read(ends[0], &go, 1) == 1 ? body() : 0);
    }
    close(ends[0]);
    go_ = ends[1];
  }
  ~Child() {
    close(go_);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void go() { EXPECT_EQ(::write(go_, "g", 1), 1); }
  int wait() {
    int status = 0;
    return waitpid(pid_, &status, 0) == pid_ ? status : -1;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  int go_ = -1;
};

class SqliteProcessTest : public ::testing::Test {
 protected:
  testing::Folder folder;
  const std::filesystem::path file = folder / "locks.db";
  const LeaseId id = LeaseId::generate();
};

TEST_F(SqliteProcessTest, AReleaseInAnotherProcessWakesAWatcher) {
  Child releaser([&] {
    const auto store = SqliteStore::open({.file = file});
    return store && (*store)->release("a", id) == store::ReleaseOutcome::released ? 0 : 1;
  });
  const auto store = testing::open({.file = file});
  take(*store, "a", id, 1h);
  std::promise<void> hinted;
  const auto watch = store->watch("a", [&] { hinted.set_value(); });
  releaser.go();
  EXPECT_EQ(hinted.get_future().wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(releaser.wait(), 0);
  EXPECT_FALSE(testing::is_held(*store, "a"));
}

TEST_F(SqliteProcessTest, AReleaseOfAnotherNameDoesNotWakeAWatcher) {
  Child releaser([&] {
    const auto store = SqliteStore::open({.file = file});
    const bool other = (*store)->release("other", id) == store::ReleaseOutcome::released;
    return other && (*store)->release("a", id) == store::ReleaseOutcome::released ? 0 : 1;
  });
  const auto store = testing::open({.file = file});
  take(*store, "a", id, 1h);
  take(*store, "other", id, 1h);
  std::promise<bool> other_is_free;
  const auto watch = store->watch("a", [&] { other_is_free.set_value(true); });
  // With the same store, and so the same thread that listens.
  std::promise<void> hinted;
  const auto watch_other = store->watch("other", [&] { hinted.set_value(); });
  releaser.go();
  EXPECT_EQ(hinted.get_future().wait_for(kPatience), std::future_status::ready);
  // Set twice, the promise would throw: one hint for each name.
  EXPECT_EQ(other_is_free.get_future().wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(releaser.wait(), 0);
}

TEST_F(SqliteProcessTest, AWatchThatHasEndedIsNotCalledByAnotherProcess) {
  Child releaser([&] {
    const auto store = SqliteStore::open({.file = file});
    return store && (*store)->release("a", id) == store::ReleaseOutcome::released ? 0 : 1;
  });
  const auto store = testing::open({.file = file});
  take(*store, "a", id, 1h);
  std::promise<void> hinted;
  auto ended = store->watch("a", [] { ADD_FAILURE() << "it has ended"; });
  const auto watch = store->watch("a", [&] { hinted.set_value(); });
  ended->reset();
  releaser.go();
  EXPECT_EQ(hinted.get_future().wait_for(kPatience), std::future_status::ready);
}

TEST_F(SqliteProcessTest, GarbageInTheWakeFileDoesNoHarm) {
  testing::write(folder / "locks.db-wake", std::string(4096, '\xc3'));
  Child releaser([&] {
    const auto store = SqliteStore::open({.file = file});
    return store && (*store)->release("a", id) == store::ReleaseOutcome::released ? 0 : 1;
  });
  const auto store = testing::open({.file = file});
  take(*store, "a", id, 1h);
  std::promise<void> hinted;
  const auto watch = store->watch("a", [&] { hinted.set_value(); });
  releaser.go();
  EXPECT_EQ(hinted.get_future().wait_for(kPatience), std::future_status::ready);
}

TEST_F(SqliteProcessTest, WhatAKilledProcessHeldStaysHeldUntilItsTimeIsOver) {
  base::ManualClock clock;
  const SqliteOptions options{.file = file, .machine = {.clock = &clock}};
  Child victim([&] {
    const auto store = *SqliteStore::open(options);
    if (!store->claim("a", testing::claim_of(id, 10s))) {
      return 1;
    }
    raise(SIGKILL);
    return 1;
  });
  victim.go();
  EXPECT_EQ(WTERMSIG(victim.wait()), SIGKILL);
  const auto store = testing::open(options);
  EXPECT_TRUE(testing::is_held(*store, "a"));
  clock.advance(10s);
  take(*store, "a", LeaseId::generate());
}

TEST_F(SqliteProcessTest, AForkedChildCanUseNeitherTheStoreNorItsFile) {
  auto store = testing::open({.file = file});
  auto watch = store->watch("a", [] {});  // the listening thread is not in the child
  take(*store, "a", id, 1h);
  const int failed = testing::in_child([&] {
    const auto is_refused = [](const auto& result) {
      return !result && result.error().code == ErrorCode::unsupported;
    };
    const store::Renewal renewal{.name = "a", .id = id, .ttl = 1s};
    const std::vector<bool> refused = {
        is_refused(store->claim("b", testing::claim_of(LeaseId::generate()))),
        is_refused(store->release("a", id)),
        is_refused(store->renew(std::span(&renewal, 1))),
        is_refused(store->transfer("a", id, testing::claim_of(LeaseId::generate()))),
        is_refused(store->look("a")),
        is_refused(store->list("")),
        is_refused(store->hit("h", 1, 1s)),
        is_refused(store->watch("a", [] {})),
        is_refused(store->sweep_now()),
        is_refused(SqliteStore::open({.file = file})),
        SqliteStore::open({.file = folder / "another.db"}).has_value(),
    };
    watch->reset();
    store.reset();
    const auto bad = std::ranges::find(refused, false);
    return bad == refused.end() ? 0 : static_cast<int>(bad - refused.begin()) + 1;
  });
  EXPECT_EQ(failed, 0) << "the call with this number was not refused";
  EXPECT_TRUE(testing::is_held(*store, "a"));
  EXPECT_EQ(store->release("a", id), store::ReleaseOutcome::released);
}

TEST_F(SqliteProcessTest, AChildMayOpenAFileThatItsParentHasClosedAgain) {
  testing::open({.file = file}).reset();
  EXPECT_EQ(testing::in_child([&] { return SqliteStore::open({.file = file}) ? 0 : 1; }), 0);
}

}  // namespace
}  // namespace holdfast::engines::sqlite
