// A forked child does nothing with what its parent holds by the recipes.
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <tests/support/any_store.h>
#include <tests/support/forked_child.h>

#include <holdfast/recipes/marker.h>
#include <holdfast/recipes/multi_lock.h>

namespace holdfast::recipes {
namespace {

using namespace std::chrono_literals;

using testing::Operation;
using tests::is_true_in_child;

class ForkedRecipes : public ::testing::TestWithParam<std::string> {
 protected:
  const tests::AnyStore store_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Engines, ForkedRecipes, ::testing::Values("memory", "sqlite", "redis"),
                         [](const auto& engine) { return engine.param; });

TEST_P(ForkedRecipes, TheLocksOfAMultiLockStayWithTheParent) {
  locks::LockProvider provider(*store_);
  std::optional<MultiLock> both = acquire_all(provider, {"anna", "bert"});
  EXPECT_TRUE(is_true_in_child([&] {
    both.reset();
    return store_->calls(Operation::release) == 0;
  }));
  EXPECT_TRUE(both->check());
  EXPECT_TRUE(*provider.is_locked("anna"));
  EXPECT_TRUE(*provider.is_locked("bert"));
}

TEST_P(ForkedRecipes, AMarkStaysWithTheParent) {
  Marker marker(*store_);
  auto mark = base::value_or_throw(marker.try_mark("sent", 1h));
  ASSERT_TRUE(mark);
  EXPECT_TRUE(is_true_in_child([&] {
    mark.reset();
    return store_->calls(Operation::release) == 0;
  }));
  EXPECT_TRUE(*marker.is_marked("sent"));
  mark.reset();
  EXPECT_FALSE(*marker.is_marked("sent"));
}

}  // namespace
}  // namespace holdfast::recipes
