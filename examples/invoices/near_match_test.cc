#include <gtest/gtest.h>

#include "near_match.h"

namespace invoices {
namespace {

const Invoice kInvoice = make_invoice("acct", "R-17", "ACME Inc.", "12.50", "2024-02-28").value();

Invoice with(const char* number, const char* vendor, const char* amount, const char* date) {
  return make_invoice("acct", number, vendor, amount, date).value();
}

// Compares in both directions.
Match match_of(const Invoice& other) {
  EXPECT_EQ(match(kInvoice, other), match(other, kInvoice));
  return match(kInvoice, other);
}

TEST(NearMatch, TheSameNumberOfTheSameVendorIsExact) {
  EXPECT_EQ(match_of(kInvoice), Match::exact);
  EXPECT_EQ(match_of(with("R-17", "acme", "99.00", "2020-01-01")), Match::exact);
}

TEST(NearMatch, ACentAndThreeDaysAreNear) {
  EXPECT_EQ(match_of(with("X", "Acme", "12.50", "2024-02-28")), Match::near);
  EXPECT_EQ(match_of(with("X", "Acme", "12.51", "2024-03-02")), Match::near);
  EXPECT_EQ(match_of(with("X", "Acme", "12.49", "2024-02-25")), Match::near);
}

TEST(NearMatch, TwoCentsOrFourDaysAreNot) {
  EXPECT_EQ(match_of(with("X", "Acme", "12.52", "2024-02-28")), Match::none);
  EXPECT_EQ(match_of(with("X", "Acme", "12.48", "2024-02-28")), Match::none);
  EXPECT_EQ(match_of(with("X", "Acme", "12.50", "2024-03-03")), Match::none);
  EXPECT_EQ(match_of(with("X", "Acme", "12.50", "2024-02-24")), Match::none);
}

TEST(NearMatch, AnotherVendorOrAccountIsNoMatch) {
  EXPECT_EQ(match_of(with("R-17", "Apex", "12.50", "2024-02-28")), Match::none);
  Invoice other = kInvoice;
  other.account = "Acct";
  EXPECT_EQ(match_of(other), Match::none);
}

}  // namespace
}  // namespace invoices
