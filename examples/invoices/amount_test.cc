#include <gtest/gtest.h>

#include "amount.h"

namespace invoices {
namespace {

using holdfast::base::ErrorCode;

TEST(Amount, IsReadInCentsWithoutLoss) {
  EXPECT_EQ(parse_amount("12"), Amount{1200});
  EXPECT_EQ(parse_amount("12.5"), Amount{1250});
  EXPECT_EQ(parse_amount("12.05"), Amount{1205});
  EXPECT_EQ(parse_amount("0.29"), Amount{29});  // 28 if it went through a double
  EXPECT_EQ(parse_amount("-0.01"), Amount{-1});
  EXPECT_EQ(parse_amount("9999999999.99"), Amount{999'999'999'999});
}

TEST(Amount, IsWrittenAsItIsRead) {
  for (const char* text : {"0.00", "0.07", "12.50", "-0.01", "-1250.00", "9999999999.99"}) {
    EXPECT_EQ(to_string(parse_amount(text).value()), text);
  }
}

TEST(Amount, AnythingElseIsATypedError) {
  for (const char* text : {"", "-", ".", "1.", ".5", "1.234", "1,50", "+1", "1e3", " 1", "1 ",
                           "--1", "0x10", "10000000000", "1.-5", "nan"}) {
    const auto amount = parse_amount(text);
    ASSERT_FALSE(amount) << text;
    EXPECT_EQ(amount.error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace invoices
