#include <string>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/repository_run.h>

namespace holdfast::testing::internal {

namespace {

using base::ErrorCode;
using base::FencingToken;

// Returns bytes that no encoding or compression may change.
std::string many_bytes(std::size_t count) {
  std::string bytes;
  bytes.reserve(count);
  std::uint32_t state = 1;
  while (bytes.size() < count) {
    state = state * 1'664'525U + 1'013'904'223U;
    bytes.push_back(static_cast<char>(state >> 24U));
  }
  return bytes;
}

constexpr RepositoryCase kCases[] = {
    {"SavedDataIsLoaded",
     [](RepositoryRun& run) {
       EXPECT_EQ(run.load(order("17"), 0), absent());
       EXPECT_EQ(run.save(order("17"), "first", 0), saved());
       EXPECT_EQ(run.load(order("17"), 0), loaded("first"));
       EXPECT_EQ(run.save(order("17"), "second", 0), saved());
       EXPECT_EQ(run.load(order("17"), 0), loaded("second"));
       EXPECT_EQ(run.load(order("18"), 0), absent());
       EXPECT_EQ(run.load({.type = "bill", .id = "17"}, 0), absent());
     }},

    {"AnErasedObjectIsAbsentAndMayComeBack",
     [](RepositoryRun& run) {
       for (const std::uint64_t token : {0U, 7U}) {
         const auto key = order(std::to_string(token));
         EXPECT_EQ(run.erase(key, token), nothing_erased());
         EXPECT_EQ(run.save(key, "data", token), saved());
         EXPECT_EQ(run.erase(key, token), erased());
         EXPECT_EQ(run.load(key, token), absent());
         EXPECT_EQ(run.erase(key, token), nothing_erased());
         EXPECT_EQ(run.save(key, "more", token), saved());
         EXPECT_EQ(run.load(key, token), loaded("more"));
       }
     }},

    {"EmptyDataIsNotAbsence",
     [](RepositoryRun& run) {
       for (const std::uint64_t token : {0U, 7U}) {
         const auto key = order(std::to_string(token));
         EXPECT_EQ(run.save(key, "", token), saved());
         EXPECT_EQ(run.load(key, token), loaded(""));
         EXPECT_EQ(run.load(key, token + 1), loaded(""));
         EXPECT_EQ(run.erase(key, token + 1), erased());
       }
     }},

    {"DataIsStoredUnchanged",
     [](RepositoryRun& run) {
       std::string all_bytes;
       for (int byte = 0; byte < 256; ++byte) {
         all_bytes.push_back(static_cast<char>(byte));
       }
       for (const std::string& data :
            {all_bytes, std::string(3, '\0'), std::string("\xff\xfe"), std::string(" x "),
             std::string("$x"), std::string(R"({"a": [1, 2]})"), many_bytes(100'000)}) {
         EXPECT_EQ(run.save(order("17"), data, 1), saved());
         EXPECT_EQ(run.load(order("17"), 1), loaded(data));
         EXPECT_EQ(run.load(order("17"), 0), store::LoadOutcome(refused(1)));
         EXPECT_EQ(run.save(order("18"), data, 0), saved());
         EXPECT_EQ(run.load(order("18"), 0), loaded(data));
       }
     }},

    {"DataMayBeAsLongAsTheBound",
     [](RepositoryRun& run) {
       const std::string longest = many_bytes(store::ObjectRepository::kMaxData);
       EXPECT_EQ(run.save(order("17"), longest, 1), saved());
       EXPECT_TRUE(run.load(order("17"), 2) == loaded(longest));
       const store::ObjectSave longer{
           .key = order("17"), .data = longest + "x", .token = FencingToken(2)};
       EXPECT_EQ(error_of(run.repository().save({&longer, 1}, store::Batch::each)),
                 ErrorCode::invalid_argument);
       EXPECT_EQ(run.save(order("17"), "short", 2), saved());
       EXPECT_EQ(run.load(order("17"), 2), loaded("short"));
     }},

    {"AllHandlesSeeTheSameObjects",
     [](RepositoryRun& run) {
       const auto other = run.open();
       EXPECT_EQ(run.save(order("17"), "data", 3), saved());
       EXPECT_EQ(base::value_or_throw(other->load(order("17"), FencingToken(4))), loaded("data"));
       EXPECT_EQ(run.save(order("17"), "late", 3), store::SaveOutcome(refused(4)));
       EXPECT_EQ(base::value_or_throw(other->erase(order("17"), FencingToken(4))), erased());
       EXPECT_EQ(run.load(order("17"), 4), absent());
     }},

    {"AnOperationRepeatedHasTheEffectOfOne",
     [](RepositoryRun& run) {
       for (int i = 0; i < 3; ++i) {
         EXPECT_EQ(run.save(order("17"), "data", 5), saved());
         EXPECT_EQ(run.load(order("17"), 5), loaded("data"));
       }
       for (int i = 0; i < 3; ++i) {
         EXPECT_EQ(run.load(order("17"), 6), loaded("data"));
         EXPECT_EQ(run.save(order("17"), "late", 5), store::SaveOutcome(refused(6)));
       }
       for (int i = 0; i < 3; ++i) {
         EXPECT_EQ(run.erase(order("17"), 6), i == 0 ? erased() : nothing_erased());
         EXPECT_EQ(run.load(order("17"), 6), absent());
         EXPECT_EQ(run.load(order("17"), 5), store::LoadOutcome(refused(6)));
       }
     }},
};

}  // namespace

std::span<const RepositoryCase> object_cases() { return kCases; }

}  // namespace holdfast::testing::internal
