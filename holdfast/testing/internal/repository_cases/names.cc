#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/printable.h>
#include <holdfast/testing/internal/awkward_names.h>
#include <holdfast/testing/internal/repository_run.h>

namespace holdfast::testing::internal {

namespace {

using base::ErrorCode;
using base::FencingToken;
using store::ObjectKey;

constexpr RepositoryCase kCases[] = {
    {"EmptyAndOverlongNamesAreRejected",
     [](RepositoryRun& run) {
       const std::string too_long(base::Name::kMaxSize + 1, 'x');
       for (const ObjectKey& key : {ObjectKey{"", "17"}, ObjectKey{"order", ""},
                                    ObjectKey{too_long, "17"}, ObjectKey{"order", too_long}}) {
         const store::ObjectSave save{.key = key, .data = "", .token = FencingToken(0)};
         EXPECT_EQ(error_of(run.repository().load(key, FencingToken(0))),
                   ErrorCode::invalid_argument);
         EXPECT_EQ(error_of(run.repository().save({&save, 1}, store::Batch::each)),
                   ErrorCode::invalid_argument);
         EXPECT_EQ(error_of(run.repository().erase(key, FencingToken(0))),
                   ErrorCode::invalid_argument);
       }
     }},

    {"AwkwardIdsAreAllDistinctAndAllWork",
     [](RepositoryRun& run) {
       std::vector<std::string> names = awkward_names();
       for (const std::string& name : names) {
         SCOPED_TRACE(base::printable(name));
         EXPECT_EQ(run.load(order(name), 1), absent());
         EXPECT_EQ(run.save(order(name), name, 1), saved());
       }
       std::ranges::sort(names);
       EXPECT_EQ(run.list("order", "", 7), names);
       for (const std::string& name : names) {
         SCOPED_TRACE(base::printable(name));
         EXPECT_EQ(run.load(order(name), 2), loaded(name));
         EXPECT_EQ(run.erase(order(name), 2), erased());
         EXPECT_EQ(run.save(order(name), "late", 1), store::SaveOutcome(refused(2)));
       }
       EXPECT_EQ(run.list("order"), std::vector<std::string>());
     }},

    {"AwkwardTypesAreAllDistinctAndAllWork",
     [](RepositoryRun& run) {
       const std::vector<std::string> names = awkward_names();
       for (const std::string& type : names) {
         SCOPED_TRACE(base::printable(type));
         EXPECT_EQ(run.load({.type = type, .id = "17"}, 1), absent());
         EXPECT_EQ(run.save({.type = type, .id = "17"}, type, 1), saved());
         EXPECT_EQ(run.save({.type = type, .id = type}, type, 1), saved());
       }
       for (const std::string& type : names) {
         SCOPED_TRACE(base::printable(type));
         EXPECT_EQ(run.load({.type = type, .id = "17"}, 1), loaded(type));
         std::vector<std::string> ids{"17", type};
         std::ranges::sort(ids);
         EXPECT_EQ(run.list(type), ids);
       }
     }},

    {"TypeAndIdAreKeptSeparate",
     [](RepositoryRun& run) {
       const std::vector<ObjectKey> keys{{"a", "b:c"},
                                         {"a:b", "c"},
                                         {"a:b:c", "d"},
                                         {"a", "}:b"},
                                         {"a}:", "b"},
                                         {"1", "1:1"},
                                         {"1:1", "1"},
                                         {"a%7D", "b"},
                                         {"a}", "b"},
                                         {"ab", "c"},
                                         {"a", "bc"},
                                         {"a", std::string("\0b", 2)},
                                         {std::string("a\0", 2), "b"}};
       for (const ObjectKey& key : keys) {
         EXPECT_EQ(run.load(key, 0), absent()) << key.type << " " << key.id;
         EXPECT_EQ(run.save(key, key.type + "|" + key.id, 0), saved());
       }
       for (const ObjectKey& key : keys) {
         EXPECT_EQ(run.load(key, 0), loaded(key.type + "|" + key.id));
       }
       EXPECT_EQ(run.list("a"),
                 (std::vector<std::string>{std::string("\0b", 2), "b:c", "bc", "}:b"}));
     }},
};

}  // namespace

std::span<const RepositoryCase> object_name_cases() { return kCases; }

}  // namespace holdfast::testing::internal
