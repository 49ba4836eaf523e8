#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/patience.h>
#include <holdfast/testing/internal/repository_run.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::Deadline;
using base::ErrorCode;
using base::FencingToken;

Deadline soon() { return Deadline::after(base::steady_clock(), 100ms); }

bool is_no_answer(std::optional<ErrorCode> code) {
  return code == ErrorCode::unavailable || code == ErrorCode::unknown_outcome;
}

bool is_foreign(std::optional<ErrorCode> code) {
  return code == ErrorCode::conflict || code == ErrorCode::corrupt;
}

constexpr RepositoryCase kCases[] = {
    {"ACallWithADeadlineDoesNotWaitForAHangingServer",
     [](RepositoryRun& run) {
       if (!run.place().hang) {
         GTEST_SKIP() << "there is nothing that could hang";
       }
       EXPECT_EQ(run.save(order("17"), "data", 1), saved());
       run.place().hang();
       const store::ObjectSave save{.key = order("17"), .data = "more", .token = FencingToken(2)};
       EXPECT_TRUE(is_no_answer(error_of(run.repository().load(save.key, save.token, soon()))));
       EXPECT_TRUE(
           is_no_answer(error_of(run.repository().save({&save, 1}, store::Batch::each, soon()))));
       EXPECT_TRUE(
           is_no_answer(error_of(run.repository().erase(order("18"), FencingToken(2), soon()))));
       run.place().go_on();
       // The errors say that the request may be repeated.
       EXPECT_TRUE(eventually(
           [&] { return run.repository().save({&save, 1}, store::Batch::each).has_value(); }));
       EXPECT_EQ(run.load(order("17"), 2), loaded("more"));
       EXPECT_EQ(run.erase(order("18"), 2), nothing_erased());
     },
     PlaceKind::frail},

    {"AServerThatWasUnavailableServesAgain",
     [](RepositoryRun& run) {
       if (!run.place().restart) {
         GTEST_SKIP() << "there is no server";
       }
       EXPECT_EQ(run.save(order("17"), "data", 1), saved());
       run.place().restart();
       const store::ObjectSave save{.key = order("17"), .data = "more", .token = FencingToken(2)};
       EXPECT_TRUE(eventually(
           [&] { return run.repository().save({&save, 1}, store::Batch::each).has_value(); }));
       EXPECT_EQ(run.load(order("17"), 2), loaded("more"));
     },
     PlaceKind::frail},

    {"AForeignValueInAnObjectsPlaceIsLeftUnchanged",
     [](RepositoryRun& run) {
       if (!run.place().plant_foreign) {
         GTEST_SKIP() << "nobody else can get there";
       }
       const auto is_there = run.place().plant_foreign(order("17"));
       for (const std::uint64_t token : {0U, 7U}) {
         const store::ObjectSave save{
             .key = order("17"), .data = "data", .token = FencingToken(token)};
         EXPECT_TRUE(is_foreign(error_of(run.repository().load(save.key, save.token))));
         EXPECT_TRUE(is_foreign(error_of(run.repository().save({&save, 1}, store::Batch::each))));
         EXPECT_TRUE(is_foreign(error_of(run.repository().erase(save.key, save.token))));
       }
       EXPECT_TRUE(is_there());
       EXPECT_EQ(run.save(order("18"), "data", 7), saved());
     }},
};

}  // namespace

std::span<const RepositoryCase> repository_fault_cases() { return kCases; }

}  // namespace holdfast::testing::internal
