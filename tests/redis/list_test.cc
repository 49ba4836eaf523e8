// Tests of listings.

#include <set>
#include <string>
#include <vector>

#include <tests/redis/redis_test.h>

namespace holdfast::tests {
namespace {

class List : public RedisTest {
 protected:
  // All pages of so many names each.
  std::vector<std::string> list(std::size_t limit, std::string_view prefix = "") {
    std::vector<std::string> names;
    store::PageRequest request{.limit = limit, .after = {}};
    do {
      const store::Page page = base::value_or_throw(store_->list(prefix, request));
      for (const store::NameState& state : page.names) {
        names.emplace_back(state.name.view());
      }
      request.after = page.next;
    } while (!request.after.empty());
    return names;
  }
};

TEST_F(List, AllPagesTogetherWalkOverTheKeysOnce) {
  constexpr int kNames = 2'000;
  std::set<std::string> held;
  for (int i = 0; i < kNames; ++i) {
    held.insert("job " + std::to_string(i));
    expect<store::Grant>(store_->claim("job " + std::to_string(i), wish()));
  }
  EXPECT_EQ(list(1000), std::vector(held.begin(), held.end()));
  const int one_page = calls("scan");
  EXPECT_LE(one_page, 2 * kNames / 1000 + 1);  // two keys of each, a thousand in a step
  EXPECT_EQ(list(10), std::vector(held.begin(), held.end()));
  EXPECT_EQ(calls("scan"), 2 * one_page);
}

TEST_F(List, AMutexCostsTheServerTwoKeysAndNoWorkOfItsOwn) {
  constexpr int kNames = 500;
  for (int i = 0; i < kNames; ++i) {
    expect<store::Grant>(store_->claim("job " + std::to_string(i), wish()));
  }
  expect<store::Grant>(store_->claim("pool", wish(store::Permits::reader())));
  run({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(list(1000).size(), kNames + 1U);
  constexpr int kMostNames = 128;  // of one request
  EXPECT_LE(calls("mget"), kNames / kMostNames + 1);
  EXPECT_LE(calls("get"), 1);  // of the pool
  EXPECT_EQ(calls("hgetall"), 1);
}

TEST_F(List, PagesOfTwoListingsMayAlternate) {
  for (const char* name : {"a1", "a2", "a3", "b1", "b2", "b3"}) {
    expect<store::Grant>(store_->claim(name, wish()));
  }
  std::vector<std::string> names;
  std::string after_a;
  std::string after_b;
  for (int page = 0; page < 3; ++page) {
    const auto a = base::value_or_throw(store_->list("a", {.limit = 1, .after = after_a}));
    const auto b = base::value_or_throw(store_->list("b", {.limit = 1, .after = after_b}));
    names.emplace_back(a.names.at(0).name.view());
    names.emplace_back(b.names.at(0).name.view());
    after_a = a.next;
    after_b = b.next;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a1", "b1", "a2", "b2", "a3", "b3"}));
  EXPECT_EQ(after_a + after_b, "");
}

TEST_F(List, ALockOfAnotherProgramIsListedThoughHoldfastNeverUsedItsName) {
  run({"SET", "theirs", "somebody", "NX", "PX", "600000"});
  const store::Page page = base::value_or_throw(store_->list(""));
  ASSERT_EQ(page.names.size(), 1U);
  EXPECT_EQ(page.names[0].name.view(), "theirs");
  EXPECT_TRUE(page.names[0].holders.at(0).foreign);
  EXPECT_EQ(page.names[0].holders.at(0).owner, "somebody");
}

TEST_F(List, DataThatNeverExpireAreNotListed) {
  run({"SET", "data", "somebody's"});
  run({"HSET", "hash", "field", "1"});
  EXPECT_EQ(list(10), std::vector<std::string>());
}

}  // namespace
}  // namespace holdfast::tests
