#include <holdfast/metrics/name_group.h>

#include <string>

#include <gtest/gtest.h>

namespace holdfast::metrics {
namespace {

TEST(NameGroup, IsThePartBeforeTheFirstSlashOrColon) {
  EXPECT_EQ(name_group("job/nightly"), "job");
  EXPECT_EQ(name_group("invoice:42/page"), "invoice");
  EXPECT_EQ(name_group("a/b:c"), "a");
}

TEST(NameGroup, IsTheWholeNameWhereThereIsNeither) {
  EXPECT_EQ(name_group("deploy"), "deploy");
  EXPECT_EQ(name_group(""), "");
}

TEST(NameGroup, HasAtMost64Bytes) {
  EXPECT_EQ(name_group(std::string(1024, 'x')), std::string(64, 'x'));
}

}  // namespace
}  // namespace holdfast::metrics
