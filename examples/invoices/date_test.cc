#include <gtest/gtest.h>

#include "date.h"

namespace invoices {
namespace {

using holdfast::base::ErrorCode;

TEST(Date, IsWrittenAsItIsRead) {
  for (const char* text : {"2024-02-29", "1900-01-01", "2999-12-31", "2023-10-05"}) {
    EXPECT_EQ(to_string(parse_date(text).value()), text);
  }
}

TEST(Date, CountsDaysAcrossMonthsAndYears) {
  EXPECT_EQ(parse_date("2024-03-01").value() - parse_date("2024-02-28").value(),
            std::chrono::days(2));
  EXPECT_EQ(parse_date("2024-01-01").value() - parse_date("2023-12-31").value(),
            std::chrono::days(1));
}

TEST(Date, ADayThatDoesNotExistIsATypedError) {
  for (const char* text :
       {"2023-02-29", "2024-13-01", "2024-00-10", "2024-04-31", "2024-1-01", "", "20240101",
        "2024/01/01", "1899-12-31", "3000-01-01", "2024-01-01 ", "-024-01-01", "2024-+1-01"}) {
    const auto date = parse_date(text);
    ASSERT_FALSE(date) << text;
    EXPECT_EQ(date.error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace invoices
