#include <array>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/patience.h>
#include <holdfast/testing/internal/repository_run.h>

namespace holdfast::testing::internal {

namespace {

// The operations that a successor with the token 9 may have done.
enum class Visit : std::uint8_t { load, load_of_nothing, save, erase, erase_of_nothing };
constexpr std::array kVisits{Visit::load, Visit::load_of_nothing, Visit::save, Visit::erase,
                             Visit::erase_of_nothing};
constexpr std::uint64_t kSuccessor = 9;

// An object after a successor's operation, and what a load with the successor's token then returns.
struct Visited {
  store::ObjectKey key;
  store::LoadOutcome state;
};

Visited visited(RepositoryRun& run, Visit visit, std::uint64_t before) {
  const auto key = order(std::to_string(static_cast<int>(visit)) + "/" + std::to_string(before));
  if (visit != Visit::load_of_nothing && visit != Visit::erase_of_nothing) {
    EXPECT_EQ(run.save(key, "before", before), saved());
  }
  switch (visit) {
    case Visit::load: EXPECT_EQ(run.load(key, kSuccessor), loaded("before")); break;
    case Visit::load_of_nothing: EXPECT_EQ(run.load(key, kSuccessor), absent()); break;
    case Visit::save: EXPECT_EQ(run.save(key, "after", kSuccessor), saved()); break;
    case Visit::erase: EXPECT_EQ(run.erase(key, kSuccessor), erased()); break;
    case Visit::erase_of_nothing: EXPECT_EQ(run.erase(key, kSuccessor), nothing_erased()); break;
  }
  const bool has_data = visit == Visit::load || visit == Visit::save;
  return {.key = key,
          .state = has_data ? loaded(visit == Visit::load ? "before" : "after") : absent()};
}

// After each of them, an operation with a smaller token is refused and changes nothing.
template <class Operation>
void expect_refused(RepositoryRun& run, const Operation& operation) {
  for (const Visit visit : kVisits) {
    for (const std::uint64_t late : {std::uint64_t{0}, std::uint64_t{1}, kSuccessor - 1}) {
      SCOPED_TRACE("visit " + std::to_string(static_cast<int>(visit)) + ", then the token " +
                   std::to_string(late));
      const Visited object = visited(run, visit, late);
      operation(object.key, late);
      // First without an operation that would raise the token again.
      EXPECT_EQ(run.load(object.key, kSuccessor - 1), store::LoadOutcome(refused(kSuccessor)));
      EXPECT_EQ(run.load(object.key, kSuccessor), object.state);
    }
  }
}

constexpr RepositoryCase kCases[] = {
    {"ASaveIsRefusedAfterAGreaterToken",
     [](RepositoryRun& run) {
       expect_refused(run, [&](const store::ObjectKey& key, std::uint64_t late) {
         EXPECT_EQ(run.save(key, "late", late), store::SaveOutcome(refused(kSuccessor)));
       });
     }},

    {"ALoadIsRefusedAfterAGreaterToken",
     [](RepositoryRun& run) {
       expect_refused(run, [&](const store::ObjectKey& key, std::uint64_t late) {
         EXPECT_EQ(run.load(key, late), store::LoadOutcome(refused(kSuccessor)));
       });
     }},

    {"AnEraseIsRefusedAfterAGreaterToken",
     [](RepositoryRun& run) {
       expect_refused(run, [&](const store::ObjectKey& key, std::uint64_t late) {
         EXPECT_EQ(run.erase(key, late), store::EraseOutcome(refused(kSuccessor)));
       });
     }},

    {"TheSameTokenIsAcceptedAgain",
     [](RepositoryRun& run) {
       for (const Visit visit : kVisits) {
         const Visited object = visited(run, visit, 1);
         EXPECT_EQ(run.save(object.key, "again", kSuccessor), saved());
         EXPECT_EQ(run.load(object.key, kSuccessor), loaded("again"));
         EXPECT_EQ(run.erase(object.key, kSuccessor), erased());
       }
     }},

    {"AGreaterTokenIsAccepted",
     [](RepositoryRun& run) {
       for (const Visit visit : kVisits) {
         const Visited object = visited(run, visit, 1);
         EXPECT_EQ(run.load(object.key, kSuccessor + 1), object.state);
         EXPECT_EQ(run.save(object.key, "next", kSuccessor + 2), saved());
         EXPECT_EQ(run.load(object.key, kSuccessor + 1),
                   store::LoadOutcome(refused(kSuccessor + 2)));
         EXPECT_EQ(run.erase(object.key, kSuccessor + 3), erased());
         EXPECT_EQ(run.save(object.key, "late", kSuccessor + 2),
                   store::SaveOutcome(refused(kSuccessor + 3)));
         EXPECT_EQ(run.save(object.key, "back", kSuccessor + 4), saved());
         EXPECT_EQ(run.load(object.key, kSuccessor + 4), loaded("back"));
       }
     }},

    {"WithoutTokensEverythingIsAccepted",
     [](RepositoryRun& run) {
       for (int i = 0; i < 3; ++i) {
         EXPECT_EQ(run.load(order("17"), 0), absent());
         EXPECT_EQ(run.save(order("17"), "data", 0), saved());
         EXPECT_EQ(run.load(order("17"), 0), loaded("data"));
         EXPECT_EQ(run.erase(order("17"), 0), erased());
       }
       EXPECT_EQ(run.save(order("17"), "data", 1), saved());
     }},

    {"EveryObjectHasItsOwnTokens",
     [](RepositoryRun& run) {
       EXPECT_EQ(run.save(order("17"), "a", 9), saved());
       EXPECT_EQ(run.save(order("18"), "b", 1), saved());
       EXPECT_EQ(run.save({.type = "bill", .id = "17"}, "c", 1), saved());
       EXPECT_EQ(run.save(order("17"), "d", 1), store::SaveOutcome(refused(9)));
       EXPECT_EQ(run.load(order("18"), 1), loaded("b"));
     }},

    {"TokensCompareAsNumbersWhateverTheirSize",
     [](RepositoryRun& run) {
       constexpr std::uint64_t kOne = 1;
       constexpr std::array<std::uint64_t, 14> kAscending{
           1,
           9,
           10,
           99,
           kOne << 31U,
           (kOne << 32U) + 1,
           1'763'000'000'000'000,
           kOne << 53U,
           (kOne << 53U) + 1,
           (kOne << 62U) + 1,
           (kOne << 63U) - 1,
           kOne << 63U,
           std::numeric_limits<std::uint64_t>::max() - 1,
           std::numeric_limits<std::uint64_t>::max()};
       std::uint64_t before = 0;
       for (const std::uint64_t token : kAscending) {
         for (const char* const id : {"loaded", "saved", "erased"}) {
           EXPECT_EQ(run.load(order(id), before),
                     before == 0 || id == std::string_view("erased") ? absent() : loaded("data"));
         }
         if (before == 0) {
           EXPECT_EQ(run.save(order("loaded"), "data", token), saved());
         }
         EXPECT_EQ(run.load(order("loaded"), token), loaded("data"));
         EXPECT_EQ(run.save(order("saved"), "data", token), saved());
         EXPECT_EQ(run.erase(order("erased"), token), nothing_erased());
         for (const char* const id : {"loaded", "saved", "erased"}) {
           EXPECT_EQ(run.load(order(id), before), store::LoadOutcome(refused(token)));
           EXPECT_EQ(run.save(order(id), "late", token - 1), store::SaveOutcome(refused(token)));
           EXPECT_EQ(run.erase(order(id), token - 1), store::EraseOutcome(refused(token)));
         }
         before = token;
       }
     }},

    {"TheTokenOfAnErasedObjectIsForgottenAfterTheRetention",
     [](RepositoryRun& run) {
       if (!run.place().outlast_retention) {
         GTEST_SKIP() << "the engine has no way to let that time pass";
       }
       EXPECT_EQ(run.save(order("there"), "data", 9), saved());
       EXPECT_EQ(run.save(order("gone"), "data", 9), saved());
       EXPECT_EQ(run.erase(order("gone"), 9), erased());
       EXPECT_EQ(run.load(order("never there"), 9), absent());
       run.place().outlast_retention();
       // It may take some time, and some operations.
       const auto is_forgotten = [&](const char* id) {
         (void)run.save(order("another"), "data", 9);
         return run.load(order(id), 1) == absent();
       };
       EXPECT_TRUE(eventually([&] { return is_forgotten("gone"); }));
       EXPECT_TRUE(eventually([&] { return is_forgotten("never there"); }));
       EXPECT_EQ(run.save(order("there"), "late", 8), store::SaveOutcome(refused(9)));
     },
     PlaceKind::frail},
};

}  // namespace

std::span<const RepositoryCase> object_token_cases() { return kCases; }

}  // namespace holdfast::testing::internal
