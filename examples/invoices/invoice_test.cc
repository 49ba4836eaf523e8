#include <string>

#include <gtest/gtest.h>

#include "invoice.h"

namespace invoices {
namespace {

using holdfast::base::ErrorCode;

TEST(Invoices, AreMadeFromText) {
  const auto invoice = make_invoice("acct-1", "R-17", "ACME Inc.", "12.50", "2024-02-29");
  ASSERT_TRUE(invoice);
  EXPECT_EQ(invoice->vendor, "ACME Inc.");
  EXPECT_EQ(invoice->amount, Amount{1250});
}

TEST(Invoices, AnErrorNamesTheWrongField) {
  const auto message_of = [](const auto& invoice) {
    EXPECT_FALSE(invoice);
    EXPECT_EQ(invoice.error().code, ErrorCode::invalid_argument);
    return invoice.error().message;
  };
  EXPECT_TRUE(message_of(make_invoice("", "1", "A", "1", "2024-01-01")).contains("account"));
  EXPECT_TRUE(message_of(make_invoice("a", std::string(65, 'x'), "A", "1", "2024-01-01"))
                  .contains("number"));
  EXPECT_TRUE(message_of(make_invoice("a", "1", "...", "1", "2024-01-01")).contains("vendor"));
  EXPECT_TRUE(message_of(make_invoice("a", "1", "A", "much", "2024-01-01")).contains("amount"));
  EXPECT_TRUE(message_of(make_invoice("a", "1", "A", "1", "today")).contains("day"));
}

}  // namespace
}  // namespace invoices
