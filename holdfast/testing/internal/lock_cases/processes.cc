#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/lock_run.h>
#include <holdfast/testing/internal/taker_process.h>

// Real processes, and so real time.
namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using Lock = LockUnderTest;

bool has_takers(LockRun& run) {
  return run.store().capabilities().cross_process && !run.place().url.empty() &&
         !run.engine().taker.empty();
}

TakerProcess taker(LockRun& run, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {run.place().url, "job"});
  return {run.engine().taker, options};
}

// The holder's lease ends a ttl after its last renewal.
TakerProcess brief_taker(LockRun& run) {
  const auto ttl = std::chrono::duration_cast<std::chrono::milliseconds>(run.ttl());
  return taker(run, {"--ttl", std::to_string(ttl.count())});
}

base::FencingToken token_in(const std::string& line) {
  EXPECT_TRUE(line.starts_with("acquired ")) << line;
  return base::FencingToken(std::strtoull(line.substr(line.find(' ') + 1).c_str(), nullptr, 10));
}

// The name is free a ttl later by the store's clock, and not before it was seen to be held.
void expect_free_within_the_ttl(LockRun& run, base::FencingToken dead) {
  run.pass(run.ttl());
  EXPECT_TRUE(run.holders("job").empty());
  EXPECT_GT(must_have(run.provider().try_acquire("job", run.options())).token(), dead);
}

void another_process_excludes(LockRun& run) {
  TakerProcess other = taker(run);
  const base::FencingToken first = token_in(other.hear());
  EXPECT_TRUE(is_busy(run.provider().try_acquire("job", run.options())));
  EXPECT_EQ(run.holders("job").at(0).token, first);
  EXPECT_EQ(other.ask("check"), "held");
  EXPECT_EQ(other.ask("release"), "released");
  const Lock lock = must_have(run.provider().try_acquire("job", run.options()));
  EXPECT_GT(lock.token(), first);
  EXPECT_EQ(other.ask("check"), "not_held");
  EXPECT_EQ(taker(run).hear(), "busy");
}

void a_waiter_in_another_process_gets_it(LockRun& run) {
  Lock lock = run.provider().acquire("job", run.options());
  TakerProcess other = taker(run, {"--wait", "600000"});
  (void)lock.release();
  EXPECT_GT(token_in(other.hear()), lock.token());
  other.say("quit");
  other.wait_until_gone();
  EXPECT_TRUE(run.holders("job").empty());
}

void a_process_that_exits_without_release(LockRun& run) {
  TakerProcess other = brief_taker(run);
  const base::FencingToken token = token_in(other.hear());
  other.say("abandon");
  other.wait_until_gone();
  expect_free_within_the_ttl(run, token);
}

void a_killed_process(LockRun& run) {
  TakerProcess other = brief_taker(run);
  const base::FencingToken token = token_in(other.hear());
  auto waiting =
      run.in_background([&] { return run.provider().try_acquire("job", {.ttl = 1h, .wait = 1h}); });
  ASSERT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
  other.kill();
  {
    const Lock lock = must_have(run.result_of(waiting));
    EXPECT_GT(lock.token(), token);
  }
  expect_free_within_the_ttl(run, token);
}

void a_stopped_process(LockRun& run) {
  TakerProcess other = brief_taker(run);
  const base::FencingToken token = token_in(other.hear());
  other.stop();
  run.pass(run.ttl());
  const Lock lock = must_have(run.provider().try_acquire("job", run.options()));
  EXPECT_GT(lock.token(), token);
  // The first command that it executes when it resumes.
  other.say("check");
  other.go_on();
  EXPECT_EQ(other.hear(), "lost");
  EXPECT_NE(other.ask("release"), "released");  // a slow server may also leave it unanswered
  EXPECT_TRUE(lock.check());
  EXPECT_EQ(run.holders("job").at(0).id, lock.id());
}

void waiters_in_several_processes_count_exactly(LockRun& run) {
  constexpr int kProcesses = 8;
  const int waiters = scaled(64);
  const auto file = std::filesystem::temp_directory_path() /
                    ("holdfast-count-" + to_string(base::LeaseId::generate()));
  std::vector<std::unique_ptr<TakerProcess>> others;
  for (int i = 0; i < kProcesses; ++i) {
    others.push_back(std::make_unique<TakerProcess>(
        run.engine().taker,
        std::vector<std::string>{run.place().url, "job", "--ttl", "600000", "--count",
                                 file.string(), "--waiters", std::to_string(waiters)}));
  }
  for (const auto& other : others) {
    EXPECT_EQ(other->hear(), "counted");
  }
  int counted = 0;
  std::ifstream(file) >> counted;
  std::filesystem::remove(file);
  EXPECT_EQ(counted, kProcesses * waiters);
  EXPECT_TRUE(run.holders("job").empty());
}

template <void (*body)(LockRun&)>
void with_takers(LockRun& run) {
  if (!has_takers(run)) {
    GTEST_SKIP() << "the engine does not promise to exclude other processes";
  }
  body(run);
}

constexpr LockCase kCases[] = {
    {"ProcessesExcludeEachOther", with_takers<another_process_excludes>, CaseTime::real},
    {"AWaiterInAnotherProcessGetsTheName", with_takers<a_waiter_in_another_process_gets_it>,
     CaseTime::real},
    {"AProcessThatExitsWithoutReleaseFreesTheNameWithinItsTtl",
     with_takers<a_process_that_exits_without_release>, CaseTime::real},
    {"AKilledProcessFreesTheNameWithinItsTtl", with_takers<a_killed_process>, CaseTime::real},
    {"AProcessStoppedPastItsTtlSeesLostBeforeAnySuccessfulCheck", with_takers<a_stopped_process>,
     CaseTime::real},
    {"WaitersInSeveralProcessesCountExactly",
     with_takers<waiters_in_several_processes_count_exactly>, CaseTime::real},
};

}  // namespace

std::span<const LockCase> process_cases() { return kCases; }

}  // namespace holdfast::testing::internal
