#include <gtest/gtest.h>

#include "vendor_name.h"

namespace invoices {
namespace {

TEST(VendorName, IgnoresCaseSpaceAndPunctuation) {
  for (const char* name : {"Acme Tools", "ACME TOOLS", "  acme \t tools ", "Acme-Tools",
                           "Acme, Tools", "A.c.m.e. Tools"}) {
    EXPECT_EQ(normalised_vendor(name), "acme tools") << name;
  }
}

TEST(VendorName, IgnoresTheLegalFormAtItsEnd) {
  for (const char* name : {"Acme Inc", "Acme, Inc.", "ACME GmbH", "Acme GmbH & Co. KG", "Acme S.A.",
                           "Acme Ltd.", "Acme Co., Ltd.", "acme pty ltd"}) {
    EXPECT_EQ(normalised_vendor(name), "acme") << name;
  }
}

TEST(VendorName, KeepsALegalFormThatIsNotAtItsEnd) {
  EXPECT_EQ(normalised_vendor("AG Energie"), "ag energie");
  EXPECT_EQ(normalised_vendor("Co Op Inc"), "co op");
}

TEST(VendorName, KeepsANameThatIsOnlyALegalForm) {
  EXPECT_EQ(normalised_vendor("AG"), "ag");
  EXPECT_EQ(normalised_vendor("Company Ltd"), "company");
}

TEST(VendorName, DoesNotRemoveTheEndOfAWord) {
  EXPECT_EQ(normalised_vendor("Zinc"), "zinc");
  EXPECT_EQ(normalised_vendor("Texaco"), "texaco");
}

TEST(VendorName, LeavesBytesBeyondAsciiAlone) {
  EXPECT_EQ(normalised_vendor("Müller GmbH"), "müller");
}

TEST(VendorName, IsEmptyWithoutLettersAndDigits) {
  EXPECT_EQ(normalised_vendor(" .,- "), "");
  EXPECT_EQ(normalised_vendor(""), "");
}

}  // namespace
}  // namespace invoices
