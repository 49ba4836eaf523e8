#include <atomic>
#include <charconv>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/patience.h>
#include <holdfast/testing/internal/repository_run.h>

namespace holdfast::testing::internal {

namespace {

constexpr int kThreads = 8;

int number_in(const store::LoadOutcome& outcome) {
  int number = 0;
  if (const auto* const found = std::get_if<store::Loaded>(&outcome)) {
    std::from_chars(found->data.data(), found->data.data() + found->data.size(), number);
  }
  return number;
}

constexpr RepositoryCase kCases[] = {
    {"TheGreatestTokenOfManySaversStays",
     [](RepositoryRun& run) {
       const int rounds = scaled(80);
       const auto token_of = [](int round, int thread) {
         return static_cast<std::uint64_t>(round) * kThreads + static_cast<std::uint64_t>(thread);
       };
       together(kThreads, [&](int thread) {
         for (int round = 1; round <= rounds; ++round) {
           const std::uint64_t token = token_of(round, thread);
           const auto outcome = run.save(order("17"), std::to_string(token), token);
           if (const auto* const refusal = std::get_if<store::Refused>(&outcome)) {
             EXPECT_GT(refusal->newest, base::FencingToken(token));
           }
         }
       });
       const std::uint64_t greatest = token_of(rounds, kThreads - 1);
       EXPECT_EQ(run.load(order("17"), greatest - 1), store::LoadOutcome(refused(greatest)));
       EXPECT_EQ(run.load(order("17"), greatest), loaded(std::to_string(greatest)));
     }},

    // A load rejects later saves of earlier loaders: such a save would be lost under the save made
    // here, and is refused instead.
    {"NoUpdateIsLostBetweenLoadAndSave",
     [](RepositoryRun& run) {
       std::atomic<std::uint64_t> last_token{0};
       std::atomic<int> done{0};
       const int wanted = scaled(200);
       together(kThreads, [&](int) {
         while (done < wanted) {
           const std::uint64_t token = ++last_token;
           const auto before = run.load(order("17"), token);
           if (std::holds_alternative<store::Refused>(before)) {
             continue;
           }
           const auto outcome = run.save(order("17"), std::to_string(number_in(before) + 1), token);
           done += outcome == saved() ? 1 : 0;
         }
       });
       EXPECT_GE(done, wanted);
       EXPECT_EQ(number_in(run.load(order("17"), ++last_token)), done);
     }},

    {"OneOfManyErasesFindsTheObject",
     [](RepositoryRun& run) {
       for (const std::uint64_t token : {0U, 7U}) {
         for (int round = 0; round < scaled(16); ++round) {
           EXPECT_EQ(run.save(order("17"), "data", token), saved());
           std::atomic<int> found{0};
           together(kThreads,
                    [&](int) { found += run.erase(order("17"), token) == erased() ? 1 : 0; });
           EXPECT_EQ(found, 1);
           EXPECT_EQ(run.load(order("17"), token), absent());
         }
         EXPECT_EQ(run.list("order"), std::vector<std::string>());
       }
     }},

    {"ManyCallersSaveANewObjectConcurrently",
     [](RepositoryRun& run) {
       for (int round = 0; round < scaled(16); ++round) {
         const auto key = order(std::to_string(round));
         together(kThreads, [&](int thread) {
           (void)run.save(key, std::to_string(thread), static_cast<std::uint64_t>(thread));
         });
         EXPECT_EQ(run.load(key, kThreads - 1), loaded(std::to_string(kThreads - 1)));
       }
     }},
};

}  // namespace

std::span<const RepositoryCase> object_crowd_cases() { return kCases; }

}  // namespace holdfast::testing::internal
