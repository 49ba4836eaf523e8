#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/patience.h>
#include <holdfast/testing/internal/repository_run.h>
#include <holdfast/testing/internal/taker_process.h>
#include <holdfast/testing/saver.h>

namespace holdfast::testing::internal {

namespace {

bool has_savers(RepositoryRun& run) {
  return run.repository().capabilities().durable && !run.place().url.empty() &&
         !run.engine().saver.empty();
}

// Returns what a saver printed before it was killed in the middle of its work.
std::vector<int> saved_before_the_kill(RepositoryRun& run, const std::string& how) {
  TakerProcess saver(run.engine().saver, {run.place().url, "order", how});
  std::vector<std::string> lines;
  for (int i = 0; i < scaled(160); ++i) {
    lines.push_back(saver.hear());
  }
  saver.kill();
  std::ranges::copy(saver.hear_rest(), std::back_inserter(lines));
  std::vector<int> numbers;
  for (const std::string& line : lines) {
    EXPECT_TRUE(line.starts_with("saved ")) << line;
    numbers.push_back(std::atoi(line.substr(line.find(' ') + 1).c_str()));
  }
  return numbers;
}

constexpr RepositoryCase kCases[] = {
    {"SavedObjectsAreThereWhenTheRepositoryIsOpenedAgain",
     [](RepositoryRun& run) {
       if (!run.repository().capabilities().durable) {
         GTEST_SKIP() << "the engine does not promise it";
       }
       EXPECT_EQ(run.save(order("saved"), "data", 9), saved());
       EXPECT_EQ(run.save(order("erased"), "data", 9), saved());
       EXPECT_EQ(run.erase(order("erased"), 9), erased());
       EXPECT_EQ(run.save(order("loaded"), "data", 1), saved());
       EXPECT_EQ(run.load(order("loaded"), 9), loaded("data"));
       EXPECT_EQ(run.load(order("absent"), 9), absent());
       run.open_again();
       for (const char* const id : {"saved", "erased", "loaded", "absent"}) {
         EXPECT_EQ(run.save(order(id), "late", 8), store::SaveOutcome(refused(9))) << id;
       }
       EXPECT_EQ(run.list("order"), (std::vector<std::string>{"loaded", "saved"}));
       EXPECT_EQ(run.load(order("saved"), 9), loaded("data"));
     }},

    {"ConfirmedSavesSurviveAKillOfTheSaver",
     [](RepositoryRun& run) {
       if (!has_savers(run)) {
         GTEST_SKIP() << "the engine does not promise it, or has no program to start";
       }
       for (const int number : saved_before_the_kill(run, "one_by_one")) {
         EXPECT_EQ(run.load(order(std::to_string(number)), 1), loaded(std::to_string(number)));
       }
       EXPECT_EQ(run.save(order("1"), "more", 2), saved());
     }},

    {"AllOrNoneIsAllOrNoneEvenIfTheSaverIsKilled",
     [](RepositoryRun& run) {
       if (!has_savers(run) || !run.repository().capabilities().atomic_batch) {
         GTEST_SKIP() << "the engine does not promise it, or has no program to start";
       }
       const std::vector<int> numbers = saved_before_the_kill(run, "together");
       ASSERT_FALSE(numbers.empty());
       std::set<std::string> found;
       for (int i = 0; i < kSavedTogether; ++i) {
         const auto outcome = run.load(order(std::to_string(i)), 1'000'000);
         ASSERT_TRUE(std::holds_alternative<store::Loaded>(outcome));
         found.insert(std::get<store::Loaded>(outcome).data);
       }
       // The last that was confirmed, or the one that was under way.
       ASSERT_EQ(found.size(), 1U);
       EXPECT_GE(std::stoi(*found.begin()), numbers.back());
       EXPECT_LE(std::stoi(*found.begin()), numbers.back() + 1);
     }},

    {"SavedObjectsAreThereAfterARestartOfTheServer",
     [](RepositoryRun& run) {
       if (!run.place().restart || !run.place().keeps_data) {
         GTEST_SKIP() << "there is no server, or it keeps nothing";
       }
       EXPECT_EQ(run.save(order("saved"), "data", 9), saved());
       EXPECT_EQ(run.erase(order("erased"), 9), nothing_erased());
       run.place().restart();
       run.open_again();
       EXPECT_EQ(run.load(order("saved"), 8), store::LoadOutcome(refused(9)));
       EXPECT_EQ(run.load(order("erased"), 8), store::LoadOutcome(refused(9)));
       EXPECT_EQ(run.load(order("saved"), 9), loaded("data"));
       EXPECT_EQ(run.list("order"), std::vector<std::string>{"saved"});
     },
     PlaceKind::frail},
};

}  // namespace

std::span<const RepositoryCase> durability_cases() { return kCases; }

}  // namespace holdfast::testing::internal
