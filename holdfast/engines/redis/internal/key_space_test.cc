#include <holdfast/engines/redis/internal/key_space.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/redis_client.h>
#include <tests/support/redis_server.h>

namespace holdfast::engines::redis::internal {
namespace {

// Short texts of few characters, so that all ways in which braces can stand come up.
std::vector<std::string> odd_names() {
  std::mt19937 random(7);
  std::set<std::string> names{"hf:x",    "hf:{a}", "hf:=a",   "hfq:{a}", "hfe:{a}",
                              "hfo:{a}", "hf~",    "hf~hf:x", "{}",      "}{"};
  constexpr std::string_view kCharacters = "{}{}ab+=:1";
  while (names.size() < 3000) {
    std::string name;
    for (std::size_t left = 1 + random() % 9; left > 0; --left) {
      name += kCharacters[random() % kCharacters.size()];
    }
    names.insert(name);
  }
  return {names.begin(), names.end()};
}

TEST(KeySpace, APlainKeyIsThePrefixAndTheName) {
  EXPECT_EQ(KeySpace("").keys_of("job").plain, "job");
  EXPECT_EQ(KeySpace("app:").keys_of("job").plain, "app:job");
  EXPECT_EQ(KeySpace("").keys_of("{tag}job").plain, "{tag}job");
}

TEST(KeySpace, ASlotIsThatOfTheTagIfThereIsOne) {
  EXPECT_EQ(slot_of("foo"), 12182U);
  EXPECT_EQ(slot_of("123456789"), 12739U);
  EXPECT_EQ(slot_of("{foo}bar"), slot_of("foo"));
  EXPECT_EQ(slot_of("a{foo}{bar}"), slot_of("foo"));
  EXPECT_NE(slot_of("foo{}{bar}"), slot_of("bar"));
}

TEST(KeySpace, TheKeysOfANameAreInOneSlot) {
  for (const std::string prefix : {"", "app:", "{tag}", "}", "hf:"}) {
    const KeySpace space(prefix);
    for (const std::string& name : odd_names()) {
      const Keys keys = space.keys_of(name);
      EXPECT_EQ(slot_of(keys.companion), slot_of(keys.plain)) << keys.plain;
    }
  }
}

TEST(KeySpace, TheObjectsOfATypeAreInTheSlotOfItsIndex) {
  for (const std::string prefix : {"", "app:", "{tag}", "}", "hf:"}) {
    const KeySpace space(prefix);
    for (const std::string& name : odd_names()) {
      EXPECT_EQ(slot_of(space.object_of(name, "17")), slot_of(space.index_of(name))) << name;
      EXPECT_EQ(slot_of(space.object_of("order", name)), slot_of(space.index_of("order"))) << name;
    }
  }
}

TEST(KeySpace, NoObjectHasTheKeyOfAnotherOrOfAName) {
  const KeySpace space("");
  std::set<std::string> keys;
  std::size_t made = 0;
  for (const std::string& name : odd_names()) {
    const Keys of_name = space.keys_of(name);
    for (const std::string& key : {of_name.plain, of_name.companion, space.index_of(name),
                                   space.object_of(name, "{a}"), space.object_of("{a}", name)}) {
      keys.insert(key);
      ++made;
    }
  }
  EXPECT_EQ(keys.size(), made - 1);  // the object {a} of the type {a}, twice
}

TEST(KeySpace, SlotsAreThoseThatAServerSays) {
  const tests::RedisServer server({.cluster = true});
  tests::RedisClient client(server.port());
  const KeySpace space("");
  for (const std::string& name : odd_names()) {
    for (const std::string& key : {space.keys_of(name).plain, space.keys_of(name).companion}) {
      ASSERT_EQ(client.run({"CLUSTER", "KEYSLOT", key}), std::to_string(slot_of(key))) << key;
    }
  }
}

TEST(KeySpace, NoTwoNamesShareAKey) {
  const KeySpace space("");
  std::set<std::string> all;
  const std::vector<std::string> names = odd_names();
  for (const std::string& name : names) {
    const Keys keys = space.keys_of(name);
    all.insert({keys.plain, keys.companion});
  }
  EXPECT_EQ(all.size(), names.size() * 2);
}

TEST(KeySpace, AKeyLeadsBackToItsName) {
  for (const std::string prefix : {"", "app:", "hf:"}) {
    const KeySpace space(prefix);
    for (const std::string& name : odd_names()) {
      const Keys keys = space.keys_of(name);
      EXPECT_EQ(space.name_of_plain(keys.plain), name);
      EXPECT_EQ(space.name_of_companion(keys.companion), name);
    }
  }
}

TEST(KeySpace, KeysOfOthersHaveNoName) {
  const KeySpace space("app:");
  EXPECT_FALSE(space.name_of_plain("other:job"));
  EXPECT_FALSE(space.name_of_plain("app:"));
  EXPECT_FALSE(space.name_of_companion("hf:{other:job}"));
  EXPECT_FALSE(space.name_of_companion("hf:app:job"));
  EXPECT_FALSE(space.name_of_companion("app:job"));
}

TEST(KeySpace, KeysOfOurOwnAreNobodysPlainKeys) {
  const KeySpace keys("");
  for (const char* key : {"hf:{a}", "hfq:{a}", "hfe:{a}", "hfo:{order}:1"}) {
    EXPECT_EQ(keys.name_of_plain(key), std::nullopt) << key;
  }
  EXPECT_EQ(keys.name_of_plain("hf~hf:a"), "hf:a");
}

TEST(KeySpace, ItsPatternsMatchThePrefixAsItIs) {
  EXPECT_EQ(KeySpace("").pattern(""), "*");
  EXPECT_EQ(KeySpace("").companion_pattern(""), "hf:*");
  EXPECT_EQ(KeySpace("app:").pattern("job"), "*app:job*");
  EXPECT_EQ(KeySpace("app:").companion_pattern("job"), "hf:*app:job*");
  EXPECT_EQ(KeySpace("a*[b]?").pattern(""), "*a\\*\\[b\\]\\?*");
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
