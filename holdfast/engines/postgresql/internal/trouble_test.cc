#include <holdfast/engines/postgresql/internal/trouble.h>

#include <gtest/gtest.h>

namespace holdfast::engines::postgresql::internal {
namespace {

using base::ErrorCode;
using Kind = Trouble::Kind;

TEST(Trouble, WhatHasDoneNothingMayBeTriedAgain) {
  for (const char* const state : {"40001", "40P01", "53300", "57P03"}) {
    EXPECT_EQ(trouble_of(state, "").kind, Kind::not_done) << state;
  }
}

TEST(Trouble, AStandbyIsNotAskedAgainOverTheSameConnection) {
  const Trouble trouble = trouble_of("25006", "cannot execute UPDATE in a read-only transaction");
  EXPECT_EQ(trouble.kind, Kind::not_done);
  EXPECT_TRUE(trouble.connection_is_bad);
}

TEST(Trouble, AServerThatEndsTheConnectionMayHaveDoneIt) {
  EXPECT_EQ(trouble_of("57P01", "").kind, Kind::unknown);
  EXPECT_EQ(trouble_of("08006", "").kind, Kind::unknown);
}

TEST(Trouble, ARefusalSaysWhatToDo) {
  const auto refusal = [](const char* state) { return error_of(trouble_of(state, "no")); };
  EXPECT_EQ(refusal("LK001").code, ErrorCode::corrupt);
  EXPECT_EQ(refusal("28P01").code, ErrorCode::unavailable);
  EXPECT_EQ(refusal("53100").code, ErrorCode::unavailable);
  EXPECT_NE(refusal("57014").message.find("statement_timeout"), std::string::npos);
  EXPECT_NE(refusal("42501").message.find("let it use the schema"), std::string::npos);
  EXPECT_EQ(refusal("42601").code, ErrorCode::internal);
  EXPECT_NE(refusal("42601").message.find("42601"), std::string::npos);
}

TEST(Trouble, AMissingSchemaIsRecognized) {
  EXPECT_TRUE(lacks_schema(trouble_of("3F000", "")));
  EXPECT_TRUE(lacks_schema(trouble_of("42883", "")));
  EXPECT_FALSE(lacks_schema(trouble_of("42501", "")));
}

}  // namespace
}  // namespace holdfast::engines::postgresql::internal
