#include <holdfast/objects/internal/activation_map.h>

#include <map>
#include <memory>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/objects/internal/host_core.h>
#include <holdfast/objects/testing_support.h>

namespace holdfast::objects::internal {
namespace {

class ActivationMapTest : public ::testing::Test {
 protected:
  Activation* insert(const std::string& id, std::size_t hash) {
    auto activation = Activation::make(core_, type_, id);
    activation->hash = hash;
    Activation* const inserted = activation.get();
    map_.insert(std::move(activation));
    return inserted;
  }

  testing::HostTest test_;
  HostCore core_{test_.host, test_.repository, testing::HostTest::quiet()};
  ObjectType type_{&core_, "type", {}, {}};
  ActivationMap map_;
};

TEST_F(ActivationMapTest, IsEmptyAtFirst) {
  EXPECT_EQ(map_.find("a", 1), nullptr);
  EXPECT_EQ(map_.extract("a", 1), nullptr);
  EXPECT_EQ(map_.size(), 0U);
}

TEST_F(ActivationMapTest, TellsIdsOfTheSameHashApart) {
  Activation* const a = insert("a", 7);
  Activation* const b = insert("b", 7);
  EXPECT_EQ(map_.find("a", 7), a);
  EXPECT_EQ(map_.find("b", 7), b);
  EXPECT_EQ(map_.find("c", 7), nullptr);
  EXPECT_EQ(map_.extract("a", 7).get(), a);
  EXPECT_EQ(map_.find("a", 7), nullptr);
  EXPECT_EQ(map_.find("b", 7), b);
}

// Few different hashes, most of them at the end of the slots: runs of full slots collide, wrap
// around and are closed again.
TEST_F(ActivationMapTest, HasWhatWasInsertedAndNotExtracted) {
  std::mt19937 random(1);
  std::map<std::string, Activation*> expected;
  const auto hash_of = [](const std::string& id) { return ~std::size_t{0} - std::stoul(id) % 13; };
  for (int step = 0; step < 5000; ++step) {
    const std::string id = std::to_string(random() % 100);
    const auto found = expected.find(id);
    if (found == expected.end()) {
      expected.emplace(id, insert(id, hash_of(id)));
    } else {
      ASSERT_EQ(map_.extract(id, hash_of(id)).get(), found->second);
      expected.erase(found);
    }
    ASSERT_EQ(map_.size(), expected.size());
    for (int other = 0; other < 100; ++other) {
      const std::string text = std::to_string(other);
      const auto there = expected.find(text);
      ASSERT_EQ(map_.find(text, hash_of(text)), there != expected.end() ? there->second : nullptr)
          << text << " after step " << step;
    }
  }
  std::size_t visited = 0;
  map_.for_each([&](const Activation& activation) {
    EXPECT_TRUE(expected.contains(activation.id));
    ++visited;
  });
  EXPECT_EQ(visited, expected.size());
}

}  // namespace
}  // namespace holdfast::objects::internal
