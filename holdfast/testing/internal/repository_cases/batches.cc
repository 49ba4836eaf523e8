#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/repository_run.h>

namespace holdfast::testing::internal {

namespace {

using base::ErrorCode;
using base::FencingToken;
using store::Batch;
using store::ObjectSave;
using store::SaveOutcome;

ObjectSave save_of(std::string_view id, std::string_view data, std::uint64_t token) {
  return {.key = order(id), .data = std::string(data), .token = FencingToken(token)};
}

bool has_atomic_batch(RepositoryRun& run) { return run.repository().capabilities().atomic_batch; }

constexpr RepositoryCase kCases[] = {
    {"EachSaveOfABatchIsJudgedSeparately",
     [](RepositoryRun& run) {
       EXPECT_EQ(run.save(order("b"), "old", 9), saved());
       EXPECT_EQ(run.erase(order("d"), 7), nothing_erased());
       const std::vector saves{save_of("a", "A", 1), save_of("b", "B", 8), save_of("c", "C", 0),
                               save_of("d", "D", 6), save_of("e", "E", 5)};
       EXPECT_EQ(run.save(saves, Batch::each),
                 (std::vector{saved(), SaveOutcome(refused(9)), saved(), SaveOutcome(refused(7)),
                              saved()}));
       EXPECT_EQ(run.load(order("a"), 1), loaded("A"));
       EXPECT_EQ(run.load(order("b"), 9), loaded("old"));
       EXPECT_EQ(run.load(order("c"), 0), loaded("C"));
       EXPECT_EQ(run.load(order("d"), 7), absent());
       EXPECT_EQ(run.load(order("e"), 5), loaded("E"));
     }},

    {"AllOrNoneSavesAllIfNoneIsRefused",
     [](RepositoryRun& run) {
       if (!has_atomic_batch(run)) {
         GTEST_SKIP() << "the engine does not promise it";
       }
       const std::vector saves{
           save_of("a", "A", 1), save_of("b", "B", 2), save_of("c", "C", 0),
           ObjectSave{.key = {.type = "bill", .id = "a"}, .data = "D", .token = FencingToken(3)}};
       for (int i = 0; i < 2; ++i) {
         EXPECT_EQ(run.save(saves, Batch::all_or_none), std::vector(4, saved()));
       }
       for (const ObjectSave& save : saves) {
         EXPECT_EQ(run.load(save.key, save.token.value()), loaded(save.data));
       }
     }},

    {"AllOrNoneChangesNothingIfOneIsRefused",
     [](RepositoryRun& run) {
       if (!has_atomic_batch(run)) {
         GTEST_SKIP() << "the engine does not promise it";
       }
       EXPECT_EQ(run.save(order("a"), "old", 1), saved());
       EXPECT_EQ(run.save(order("c"), "old", 9), saved());
       const std::vector saves{save_of("a", "A", 5), save_of("b", "B", 5), save_of("c", "C", 8),
                               save_of("d", "D", 5)};
       EXPECT_EQ(run.save(saves, Batch::all_or_none),
                 (std::vector{withheld(), withheld(), SaveOutcome(refused(9)), withheld()}));
       // Not even the tokens.
       EXPECT_EQ(run.load(order("a"), 2), loaded("old"));
       EXPECT_EQ(run.load(order("b"), 2), absent());
       EXPECT_EQ(run.load(order("c"), 9), loaded("old"));
       EXPECT_EQ(run.load(order("d"), 2), absent());
       EXPECT_EQ(run.list("order"), (std::vector<std::string>{"a", "c"}));
     }},

    {"AllOrNoneIsUnsupportedIfItIsNotPromised",
     [](RepositoryRun& run) {
       const std::vector saves{save_of("a", "A", 1), save_of("b", "B", 1)};
       EXPECT_EQ(error_of(run.repository().save(saves, Batch::all_or_none)),
                 has_atomic_batch(run) ? std::nullopt : std::optional(ErrorCode::unsupported));
       EXPECT_EQ(run.load(order("a"), 1), has_atomic_batch(run) ? loaded("A") : absent());
     }},

    {"ABatchMayBeAsLongAsTheBound",
     [](RepositoryRun& run) {
       std::vector<ObjectSave> saves;
       for (std::size_t i = 0; i < store::ObjectRepository::kMaxBatch; ++i) {
         saves.push_back(save_of(std::to_string(1000 + i), "data", i));
       }
       EXPECT_EQ(run.save(order("1500"), "old", 999), saved());
       std::vector<SaveOutcome> expected(saves.size(), saved());
       expected[500] = SaveOutcome(refused(999));
       EXPECT_EQ(run.save(saves, Batch::each), expected);
       EXPECT_EQ(run.list("order", "", 1000).size(), saves.size());
       saves.push_back(save_of("one more", "data", 1));
       EXPECT_EQ(error_of(run.repository().save(saves, Batch::each)), ErrorCode::invalid_argument);
     }},

    {"ABatchMayBeLargerThanOneMessage",
     [](RepositoryRun& run) {
       constexpr std::size_t kLarge = 3UL * 1024 * 1024;
       std::vector<ObjectSave> saves;
       for (char c = 'a'; c < 'a' + 8; ++c) {
         saves.push_back(save_of(std::string(1, c), std::string(kLarge, c), 1));
       }
       EXPECT_EQ(run.save(saves, Batch::each), std::vector(saves.size(), saved()));
       for (const ObjectSave& save : saves) {
         EXPECT_TRUE(run.load(save.key, 1) == loaded(save.data));
       }
     }},

    {"AnEmptyBatchIsSavedAtOnce",
     [](RepositoryRun& run) {
       EXPECT_EQ(run.save(std::span<const ObjectSave>(), Batch::each), std::vector<SaveOutcome>());
     }},
};

}  // namespace

std::span<const RepositoryCase> batch_cases() { return kCases; }

}  // namespace holdfast::testing::internal
