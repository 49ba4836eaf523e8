#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/store_run.h>

namespace holdfast::testing::internal {

namespace {

using store::Claim;
using Names = std::vector<std::string>;

void hold(StoreRun& run, const Names& names) {
  for (const std::string& name : names) {
    (void)granted(run.store().claim(name, wish()));
  }
}

// Returns all pages, one after the other; calls `between` after each.
template <class Between>
Names list_all(StoreRun& run, std::string_view prefix, std::size_t limit, Between&& between) {
  Names names;
  store::PageRequest request{.limit = limit, .after = {}};
  do {
    const store::Page page = base::value_or_throw(run.store().list(prefix, request));
    EXPECT_LE(page.names.size(), limit);
    for (const store::NameState& state : page.names) {
      EXPECT_FALSE(state.holders.empty());
      names.emplace_back(state.name.view());
    }
    request.after = page.next;
    between();
  } while (!request.after.empty());
  return names;
}

Names list_all(StoreRun& run, std::string_view prefix, std::size_t limit = 100) {
  return list_all(run, prefix, limit, [] {});
}

constexpr StoreCase kCases[] = {
    {"ListOfAnEmptyStoreIsEmpty",
     [](StoreRun& run) {
       const store::Page page = base::value_or_throw(run.store().list(""));
       EXPECT_TRUE(page.names.empty());
       EXPECT_TRUE(page.next.empty());
     }},

    {"ListShowsHeldNamesInByteOrder",
     [](StoreRun& run) {
       hold(run, {"b", "a", "B", "ab", "a/1", "\xc3\xa9", "\xff"});
       EXPECT_EQ(list_all(run, ""), (Names{"B", "a", "a/1", "ab", "b", "\xc3\xa9", "\xff"}));
     }},

    {"ListShowsNothingReleasedOrExpired",
     [](StoreRun& run) {
       const Claim released = wish();
       (void)granted(run.store().claim("released", released));
       (void)granted(run.store().claim("expired", wish(run.ttl())));
       hold(run, {"held"});
       run.release("released", released.id);
       run.pass(run.ttl());
       EXPECT_EQ(list_all(run, ""), Names{"held"});
     }},

    {"ListAndLookAgree",
     [](StoreRun& run) {
       (void)granted(run.store().claim("data", wish(kLong, store::Permits::reader())));
       (void)granted(run.store().claim("data", wish(kLong, store::Permits::reader())));
       const store::Page page = base::value_or_throw(run.store().list("data"));
       const auto state = base::value_or_throw(run.store().look("data"));
       ASSERT_EQ(page.names.size(), 1U);
       ASSERT_TRUE(state);
       EXPECT_EQ(page.names[0].name, state->name);
       EXPECT_EQ(page.names[0].capacity, state->capacity);
       ASSERT_EQ(page.names[0].holders.size(), state->holders.size());
       for (std::size_t i = 0; i < state->holders.size(); ++i) {
         EXPECT_EQ(page.names[0].holders[i].id, state->holders[i].id);
         EXPECT_EQ(page.names[0].holders[i].token, state->holders[i].token);
         EXPECT_EQ(page.names[0].holders[i].owner, state->holders[i].owner);
       }
     }},

    {"APrefixSelectsByBytes",
     [](StoreRun& run) {
       hold(run, {"jobs/1", "jobs/2", "jobs", "jobsx", "Jobs/3", "job", "other"});
       EXPECT_EQ(list_all(run, "jobs/"), (Names{"jobs/1", "jobs/2"}));
       EXPECT_EQ(list_all(run, "jobs"), (Names{"jobs", "jobs/1", "jobs/2", "jobsx"}));
       EXPECT_TRUE(list_all(run, "nothing").empty());
       EXPECT_EQ(list_all(run, "").size(), 7U);
     }},

    {"PatternCharactersHaveNoMeaningInAPrefix",
     [](StoreRun& run) {
       const Names prefixes{"%", "_", "*", "?", "[a]", "^a", ".*", "\\", "'", "\"", "$", "{}", ":"};
       hold(run, {"a", "aa", "b"});
       for (const std::string& prefix : prefixes) {
         EXPECT_TRUE(list_all(run, prefix).empty()) << prefix;
       }
       for (const std::string& prefix : prefixes) {
         hold(run, {prefix + "x"});
         EXPECT_EQ(list_all(run, prefix), Names{prefix + "x"});
       }
     }},

    {"APrefixMayEndInTheGreatestByteOrInNul",
     [](StoreRun& run) {
       const std::string nul("n\0", 2);
       const std::string top(1, '\xff');
       hold(run, {top, top + top, top + top + "a", "\xfe", "n", nul, nul + "a"});
       EXPECT_EQ(list_all(run, top), (Names{top, top + top, top + top + "a"}));
       EXPECT_EQ(list_all(run, top + top), (Names{top + top, top + top + "a"}));
       EXPECT_EQ(list_all(run, nul), (Names{nul, nul + "a"}));
       EXPECT_EQ(list_all(run, "n").size(), 3U);
     }},

    {"PagesTogetherAreTheWholeListOnce",
     [](StoreRun& run) {
       Names names;
       for (int i = 0; i < 25; ++i) {
         names.push_back("page/" + std::to_string(i));
       }
       hold(run, names);
       hold(run, {"before", "without"});
       std::ranges::sort(names);
       for (const std::size_t limit : {1U, 5U, 7U, 24U, 25U, 26U, 1000U}) {
         EXPECT_EQ(list_all(run, "page/", limit), names) << "pages of " << limit;
       }
     }},

    {"ExpiredNamesDoNotMakePagesEndEarly",
     [](StoreRun& run) {
       for (int i = 0; i < 20; ++i) {
         (void)granted(run.store().claim("n" + std::to_string(100 + i), wish(run.ttl())));
       }
       hold(run, {"n099", "n110x", "n200"});
       run.pass(run.ttl());
       EXPECT_EQ(list_all(run, "n", 1), (Names{"n099", "n110x", "n200"}));
     }},

    {"ANameHeldThroughoutIsOnExactlyOnePageWhateverComesAndGoes",
     [](StoreRun& run) {
       Names held;
       std::vector<std::pair<std::string, base::LeaseId>> passing;
       for (int i = 10; i < 30; ++i) {
         held.push_back("p" + std::to_string(i));
         const Claim claim = wish();
         passing.emplace_back("p" + std::to_string(i) + "x", claim.id);
         (void)granted(run.store().claim(passing.back().first, claim));
       }
       hold(run, held);
       int comes = 0;
       Names seen = list_all(run, "p", 3, [&] {
         if (!passing.empty()) {
           run.release(passing.back().first, passing.back().second);
           passing.pop_back();
         }
         hold(run, {"p00" + std::to_string(comes++)});
       });
       std::erase_if(seen, [](const std::string& name) { return name.size() != 3; });
       EXPECT_EQ(seen, held);
     }},

    {"BadPagesAreRejected",
     [](StoreRun& run) {
       EXPECT_EQ(error_of(run.store().list("", {.limit = 0, .after = {}})),
                 base::ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(run.store().list("", {.limit = 1001, .after = {}})),
                 base::ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(run.store().list(std::string(base::Name::kMaxSize + 1, 'x'))),
                 base::ErrorCode::invalid_argument);
     }},
};

}  // namespace

std::span<const StoreCase> list_cases() { return kCases; }

}  // namespace holdfast::testing::internal
