#include <gtest/gtest.h>

#include "apps/holdfast/cli/claim_options.h"

namespace holdfast::cli {

namespace {

using store::Permits;

TEST(ClaimOptions, ReadPermits) {
  EXPECT_EQ(*parse_permits("2/5"), Permits::of(2, 5));
  for (const char* const wrong :
       {"", "2", "2/", "/5", "0/5", "6/5", "2/5 ", "-1/5", "1/4294967295"}) {
    EXPECT_FALSE(parse_permits(wrong)) << wrong;
  }
}

}  // namespace

}  // namespace holdfast::cli
