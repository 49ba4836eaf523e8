#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/printable.h>
#include <holdfast/testing/internal/repository_run.h>

namespace holdfast::testing::internal {

namespace {

using base::ErrorCode;
using Ids = std::vector<std::string>;

store::IdPage page_of(RepositoryRun& run, std::string_view prefix, std::size_t limit,
                      std::string_view after = {}) {
  return base::value_or_throw(run.repository().list("order", prefix, limit, after));
}

constexpr RepositoryCase kCases[] = {
    {"OnlyExistingObjectsAreListed",
     [](RepositoryRun& run) {
       EXPECT_EQ(run.list("order"), Ids());
       for (const char* const id : {"c", "a", "b", "d"}) {
         EXPECT_EQ(run.save(order(id), "data", 1), saved());
       }
       EXPECT_EQ(run.save({.type = "bill", .id = "x"}, "data", 1), saved());
       EXPECT_EQ(run.erase(order("b"), 1), erased());
       EXPECT_EQ(run.load(order("e"), 1), absent());
       EXPECT_EQ(run.erase(order("f"), 1), nothing_erased());
       EXPECT_EQ(run.list("order"), (Ids{"a", "c", "d"}));
       EXPECT_EQ(run.list("bill"), Ids{"x"});
       EXPECT_EQ(run.save(order("b"), "again", 1), saved());
       EXPECT_EQ(run.list("order"), (Ids{"a", "b", "c", "d"}));
     }},

    {"PagesAreCompleteAndEndWithAnEmptyNext",
     [](RepositoryRun& run) {
       Ids all;
       for (int i = 10; i < 22; ++i) {
         all.push_back(std::to_string(i));
         EXPECT_EQ(run.save(order(all.back()), "", 0), saved());
       }
       for (const std::size_t limit : {1U, 2U, 5U, 6U, 11U, 12U, 13U, 1000U}) {
         EXPECT_EQ(run.list("order", "", limit), all) << limit;
       }
       EXPECT_EQ(page_of(run, "", 12).next, "");
       EXPECT_EQ(page_of(run, "", 11).next, "20");
       EXPECT_EQ(page_of(run, "", 3, "12").ids, (Ids{"13", "14", "15"}));
       // The id to continue after need not exist any more.
       EXPECT_EQ(run.erase(order("12"), 0), erased());
       EXPECT_EQ(page_of(run, "", 3, "12").ids, (Ids{"13", "14", "15"}));
       EXPECT_EQ(page_of(run, "", 3, "99").ids, Ids());
       EXPECT_EQ(error_of(run.repository().list("order", "", 0)), ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(run.repository().list("order", "", 1001)), ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(run.repository().list("", "")), ErrorCode::invalid_argument);
     }},

    {"APrefixIsBytesAndNoPattern",
     [](RepositoryRun& run) {
       for (const std::string& id :
            {std::string("a%b"), std::string("a%"), std::string("a_b"), std::string("axb"),
             std::string("a*"), std::string("[a]"), std::string("a\xff"), std::string("a\xff\xff"),
             std::string("a"), std::string("b"), std::string("\xff"), std::string("\xff\xff"),
             std::string("a\0b", 3)}) {
         EXPECT_EQ(run.save(order(id), "", 0), saved());
       }
       EXPECT_EQ(run.list("order", "a%"), (Ids{"a%", "a%b"}));
       EXPECT_EQ(run.list("order", "a_"), Ids{"a_b"});
       EXPECT_EQ(run.list("order", "a*"), Ids{"a*"});
       EXPECT_EQ(run.list("order", "["), Ids{"[a]"});
       EXPECT_EQ(run.list("order", "a\xff"), (Ids{"a\xff", "a\xff\xff"}));
       EXPECT_EQ(run.list("order", "\xff"), (Ids{"\xff", "\xff\xff"}));
       EXPECT_EQ(run.list("order", std::string_view("a\0", 2)), Ids{std::string("a\0b", 3)});
       EXPECT_EQ(run.list("order", "none"), Ids());
     }},

    {"TheOrderIsThatOfTheBytes",
     [](RepositoryRun& run) {
       // Few bytes, so that many ids share a prefix.
       constexpr std::string_view kBytes(
           "\0"
           "aB\x7f\x80\xc3\xff",
           7);
       std::mt19937 random(7);
       const auto any = [&](std::size_t most) {
         std::string bytes;
         for (std::size_t left = random() % (most + 1); left > 0; --left) {
           bytes += kBytes[random() % kBytes.size()];
         }
         return bytes;
       };
       std::set<std::string> ids;
       std::vector<store::ObjectSave> saves;
       while (saves.size() < 200) {
         const std::string id = any(5);
         if (!id.empty() && ids.insert(id).second) {
           saves.push_back({.key = order(id), .data = "", .token = base::FencingToken(0)});
         }
       }
       (void)run.save(saves, store::Batch::each);
       for (int i = 0; i < 60; ++i) {
         const std::string prefix = any(2);
         const std::string after = any(4);
         const std::size_t limit = 1 + random() % 40;
         Ids expected;
         for (const std::string& id : ids) {
           if (id.starts_with(prefix) && id > after) {
             expected.push_back(id);
           }
         }
         SCOPED_TRACE(base::printable(prefix) + " after " + base::printable(after));
         const store::IdPage page = page_of(run, prefix, limit, after);
         EXPECT_EQ(page.next, expected.size() > limit ? expected[limit - 1] : "");
         expected.resize(std::min(expected.size(), limit));
         EXPECT_EQ(page.ids, expected);
       }
     }},
};

}  // namespace

std::span<const RepositoryCase> id_list_cases() { return kCases; }

}  // namespace holdfast::testing::internal
