#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "apps/holdfast/torture/checker.h"

namespace holdfast::cli::torture {

namespace {

using std::chrono::milliseconds;

History history_of(LockName name) {
  History history;
  history.names.push_back(std::move(name));
  history.registers.resize(1);
  return history;
}

// Asked for and granted at `from`, sure until `until`.
Hold hold(std::uint64_t token, int from, int until, std::uint32_t permits = 1) {
  return {.worker = static_cast<std::uint32_t>(token),
          .permits = permits,
          .end = End::released,
          .token = token,
          .asked = milliseconds(from),
          .granted = milliseconds(from),
          .sure = milliseconds(until),
          .ended = milliseconds(until)};
}

Update update(std::uint64_t write, bool held_afterwards = true) {
  return {.write = write, .acknowledged = true, .held_afterwards = held_afterwards};
}

// Returns the rules that were broken, each as often as it was.
std::vector<std::string_view> broken(const History& history) {
  std::vector<std::string_view> rules;
  for (const Violation& violation : judge(history).violations) {
    rules.push_back(violation.rule);
  }
  return rules;
}

using Rules = std::vector<std::string_view>;

TEST(TortureChecker, AnEmptyHistoryIsGood) {
  const Judgement judgement = judge(history_of({.text = "m"}));
  EXPECT_TRUE(judgement.good());
  EXPECT_EQ(judgement.rulings.front().checked, 0U);
}

TEST(TortureChecker, HoldersOneAfterTheOtherAreGood) {
  History history = history_of({.text = "m"});
  history.holds = {hold(1, 0, 10), hold(2, 10, 20), hold(3, 20, 30)};
  EXPECT_EQ(broken(history), Rules());
  EXPECT_EQ(judge(history).rulings.front().checked, 3U);
}

TEST(TortureChecker, TwoHoldersOfAMutexAtOnceAreFoundInAnyOrder) {
  History history = history_of({.text = "m"});
  history.holds = {hold(2, 9, 20), hold(1, 0, 10)};
  EXPECT_EQ(broken(history), Rules{"no more holders than permits"});
  const Violation violation = judge(history).violations.front();
  EXPECT_EQ(violation.time, milliseconds(9));
  EXPECT_EQ(violation.text,
            "held at the same time by worker 1 with token 1, worker 2 with token 2");
  EXPECT_EQ(violation.holds, (std::vector<std::size_t>{1, 0}));
}

TEST(TortureChecker, AHolderThatWasNeverSureHarmsNobody) {
  History history = history_of({.text = "m"});
  history.holds = {hold(1, 0, 100), hold(2, 50, 50)};
  EXPECT_EQ(broken(history), Rules());
}

TEST(TortureChecker, AHolderIsOnlySureUntilItsLockLastSaidSo) {
  History history = history_of({.text = "m"});
  history.holds = {hold(1, 0, 10), hold(2, 10, 20)};
  history.holds[0].end = End::lost;
  history.holds[0].ended = milliseconds(500);  // it was stopped, and noticed late
  EXPECT_EQ(broken(history), Rules());
}

TEST(TortureChecker, HoldersOfDifferentNamesDoNotMeet) {
  History history = history_of({.text = "m"});
  history.names.push_back({.text = "n"});
  history.holds = {hold(1, 0, 10), hold(1, 0, 10)};
  history.holds[1].name = 1;
  EXPECT_EQ(broken(history), Rules());
}

TEST(TortureChecker, ASemaphoreHasAsManyPermitsAsItHas) {
  History history = history_of({.text = "s", .kind = Kind::semaphore, .permits = 3});
  history.holds = {hold(1, 0, 10), hold(2, 0, 10, 2), hold(3, 10, 20, 3)};
  EXPECT_EQ(broken(history), Rules());
  history.holds.push_back(hold(4, 15, 20));
  EXPECT_EQ(broken(history), Rules{"no more holders than permits"});
}

TEST(TortureChecker, ReadersShareAndAWriterDoesNot) {
  constexpr std::uint32_t kAll = 0xffffffff;
  History history = history_of({.text = "rw", .kind = Kind::reader_writer, .permits = kAll});
  history.holds = {hold(1, 0, 10), hold(2, 1, 10), hold(3, 10, 20, kAll)};
  EXPECT_EQ(broken(history), Rules());
  history.holds.push_back(hold(4, 19, 20));
  EXPECT_EQ(broken(history), Rules{"no more holders than permits"});
}

TEST(TortureChecker, ATokenThatDoesNotIncreaseIsFound) {
  for (const std::uint64_t token : {1U, 2U}) {
    History history = history_of({.text = "m"});
    history.holds = {hold(2, 0, 10), hold(token, 11, 20)};
    EXPECT_EQ(broken(history), Rules{"tokens strictly increase"}) << token;
  }
}

TEST(TortureChecker, AHoldAfterAFlushWithASmallerTokenThanAnEarlierOneIsFound) {
  History history = history_of({.text = "m"});
  history.holds = {hold(7, 0, 10), hold(8, 11, 20), hold(1, 21, 30), hold(2, 31, 40)};
  EXPECT_EQ(broken(history), (Rules{"tokens strictly increase", "tokens strictly increase"}));
}

TEST(TortureChecker, CallsAtTheSameTimeMayGetTheirTokensInAnyOrder) {
  History history = history_of({.text = "s", .kind = Kind::semaphore, .permits = 2});
  history.holds = {hold(2, 5, 20), hold(1, 6, 20)};
  history.holds[1].asked = milliseconds(0);
  EXPECT_EQ(broken(history), Rules());
}

TEST(TortureChecker, AnUpdateThatNobodyReadIsLost) {
  History history = history_of({.text = "m"});
  history.registers[0] = {{.write = 1}, {.write = 2, .read = 1}, {.write = 3, .read = 1}};
  history.updates = {update(1), update(2), update(3, /*held_afterwards=*/false)};
  const Judgement judgement = judge(history);
  EXPECT_EQ(judgement.updates.acknowledged, 3U);
  EXPECT_EQ(judgement.updates.lost, 1U);
  EXPECT_EQ(judgement.updates.late, 1U);
  EXPECT_TRUE(judgement.good()) << "a writer that had lost its lock, and no fence";
}

TEST(TortureChecker, ALostUpdateIsAViolationWhereAFenceIsUsed) {
  History history = history_of({.text = "m"});
  history.fenced = true;
  history.registers[0] = {{.write = 1}, {.write = 2, .read = 1}, {.write = 3, .read = 1}};
  history.updates = {update(1), update(2), update(3, /*held_afterwards=*/false)};
  EXPECT_EQ(broken(history), Rules{"no acknowledged update is lost"});
}

TEST(TortureChecker, ALostUpdateIsAViolationWhereEveryWriterHeldItsLock) {
  History history = history_of({.text = "m"});
  history.registers[0] = {{.write = 1}, {.write = 2}};
  history.updates = {update(1), update(2)};
  EXPECT_EQ(broken(history), Rules{"no acknowledged update is lost"});
}

// It was stopped beyond its lease, resumed, wrote, and was killed before its report.
TEST(TortureChecker, ALostUpdateIsNoViolationWhereAWriterWasKilledBeforeItSaidWhetherItWasLate) {
  History history = history_of({.text = "m"});
  history.registers[0] = {{.write = 1}, {.write = 2, .read = 1}, {.write = 3, .read = 1}};
  history.updates = {update(1), update(2)};
  EXPECT_EQ(broken(history), Rules());
  EXPECT_EQ(judge(history).updates.lost, 1U);
  history.fenced = true;
  EXPECT_EQ(broken(history), Rules{"no acknowledged update is lost"});
}

TEST(TortureChecker, AnUpdateThatWasRefusedOrNotAnsweredIsNotMissed) {
  History history = history_of({.text = "m"});
  history.fenced = true;
  history.registers[0] = {{.write = 1}, {.write = 3, .read = 1}};  // 3: killed before its answer
  history.updates = {update(1), update(2)};
  history.updates[1].acknowledged = false;
  EXPECT_EQ(broken(history), Rules());
  EXPECT_EQ(judge(history).updates.refused, 1U);
}

TEST(TortureChecker, AFenceThatAcceptsAStaleTokenIsFound) {
  History history = history_of({.text = "m"});
  history.registers[0] = {{.write = 1, .token = 5}, {.write = 2, .read = 1, .token = 4}};
  history.updates = {update(1), update(2)};
  EXPECT_EQ(broken(history), Rules());
  history.fenced = true;
  EXPECT_EQ(broken(history), Rules{"the fence accepts no stale token"});
}

TEST(TortureChecker, ANameThatNobodyCanAcquireAtTheEndIsFound) {
  History history = history_of({.text = "m"});
  history.never_free = {0};
  EXPECT_EQ(broken(history), Rules{"every name is free again at the end"});
}

TEST(TortureChecker, ANameThatNobodyHasAskedForAtTheEndIsNotChecked) {
  History history = history_of({.text = "m"});
  EXPECT_EQ(judge(history).rulings.back().checked, 1U);
  history.unknown = {0};
  EXPECT_EQ(broken(history), Rules());
  EXPECT_EQ(judge(history).rulings.back().checked, 0U);
}

TEST(TortureChecker, ManyViolationsAreAllCountedAndTheFirstAreDescribed) {
  History history = history_of({.text = "m"});
  for (int i = 0; i < 1'000; ++i) {
    history.holds.push_back(hold(static_cast<std::uint64_t>(i) + 1, i, 2'000));
  }
  const Judgement judgement = judge(history);
  EXPECT_EQ(judgement.rulings.front().violations, 999U);
  EXPECT_EQ(judgement.violations.size(), Judgement::kMostViolations);
  EXPECT_TRUE(judgement.violations.back().text.ends_with(" others"))
      << judgement.violations.back().text;
}

}  // namespace

}  // namespace holdfast::cli::torture
