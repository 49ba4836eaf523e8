#include <holdfast/fence/redis_guard.h>

#include <gtest/gtest.h>

namespace holdfast::fence {
namespace {

TEST(RedisGuard, ItsScriptsBeginWithThePublicFunction) {
  for (const Script& script : {redis_check_script(), redis_set_script()}) {
    EXPECT_TRUE(script.text.starts_with(redis_fence_function()));
    EXPECT_EQ(script.sha.size(), 40U);
  }
  EXPECT_NE(redis_fence_function().find("function fence_check(key, text)"), std::string_view::npos);
}

}  // namespace
}  // namespace holdfast::fence
