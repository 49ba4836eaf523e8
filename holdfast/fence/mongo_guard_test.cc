#include <holdfast/fence/mongo_guard.h>

#include <gtest/gtest.h>

namespace holdfast::fence {
namespace {

using base::ErrorCode;
using base::FencingToken;

TEST(MongoGuard, MatchesADocumentWhoseFenceIsNoNewer) {
  EXPECT_EQ(mongo_filter("anna", FencingToken{7}),
            R"({"_id":"anna","$or":[{"fence":{"$lte":{"$numberLong":"7"},)"
            R"("$not":{"$type":"array"}}},{"fence":{"$exists":false}}]})");
  EXPECT_EQ(mongo_condition(FencingToken{7}, {.field = "token"}),
            R"({"$or":[{"token":{"$lte":{"$numberLong":"7"},"$not":{"$type":"array"}}},)"
            R"({"token":{"$exists":false}}]})");
  EXPECT_EQ(mongo_fence_fields(FencingToken{7}), R"({"fence":{"$numberLong":"7"}})");
}

TEST(MongoGuard, AnIdWithAnyCharactersIsEscaped) {
  const auto filter = mongo_filter("a\"b\\c\n\x01{$ne: 1} €", FencingToken{7});
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->starts_with(R"({"_id":"a\"b\\c\u000a\u0001{$ne: 1} €",)")) << *filter;
}

TEST(MongoGuard, InvalidInputIsATypedError) {
  const FencingToken seven{7};
  for (const std::string& field : {std::string(), std::string("$fence"), std::string("a.b"),
                                   std::string("a\0b", 3), std::string("\xff")}) {
    for (const auto& text :
         {mongo_filter("anna", seven, {.field = field}), mongo_condition(seven, {.field = field}),
          mongo_fence_fields(seven, {.field = field})}) {
      ASSERT_FALSE(text);
      EXPECT_EQ(text.error().code, ErrorCode::invalid_argument);
    }
  }
  EXPECT_EQ(mongo_filter("\xff", seven).error().code, ErrorCode::invalid_argument);
  for (const std::uint64_t forged : {UINT64_MAX, std::uint64_t{INT64_MAX}}) {
    EXPECT_EQ(mongo_filter("anna", FencingToken{forged}).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(mongo_condition(FencingToken{forged}).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(mongo_fence_fields(FencingToken{forged}).error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace holdfast::fence
