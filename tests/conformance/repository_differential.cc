// The same random operations on a repository and on that in memory, which is the model: every
// answer must be the same.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/printable.h>
#include <holdfast/engines/memory/memory_repository.h>

#include "repositories.h"

namespace holdfast::conformance {

namespace {

using base::FencingToken;
using base::Result;
using store::Batch;
using store::ObjectKey;
using store::ObjectSave;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kOperations = 1'500;
#else
constexpr int kOperations = 12'000;
#endif
// After so many, other objects: those without tokens come to their right again.
constexpr int kOfOneAge = 250;

class History {
 public:
  History(testing::RepositoryPlace place, std::uint64_t seed)
      : place_(std::move(place)), actual_(place_.open()), random_(seed) {}

  // Returns why the two differ; empty if they do not.
  std::string step(int number) {
    age_ = number / kOfOneAge;
    said_.str("");
    switch (pick(10)) {
      case 0:
      case 1:
      case 2: return load();
      case 3:
      case 4: return save(1);
      case 5: return save(1 + pick(6));
      case 6:
      case 7: return erase();
      case 8: return list();
      default: return pick(20) == 0 ? open_again() : save(1 + pick(3));
    }
  }

  // The answers, so that a history in which nothing happens is noticed.
  std::map<std::string, int> seen;

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }

  ObjectKey any_key() {
    static const std::array<std::string, 3> kTypes{"order", "{a}", "\xff:b"};
    static const std::array<std::string, 5> kIds{"1", "$1", "a.b", std::string("\0x", 2),
                                                 "\xc3\x28}"};
    ObjectKey key{.type = kTypes[pick(kTypes.size())], .id = kIds[pick(kIds.size())]};
    key.id += std::to_string(age_);
    said_ << " " << base::printable(key.type) << "/" << base::printable(key.id);
    return key;
  }

  // Mostly near each other; without one rather often in the youth of an age.
  FencingToken any_token() {
    const std::uint64_t token = pick(4) == 0 ? 0 : 1'763'000'000'000'000U + pick(8);
    said_ << " token " << token;
    return FencingToken(token);
  }

  std::string any_data() {
    static const std::array<std::string, 4> kData{"", "{}", std::string("\0\xff$", 3),
                                                  std::string(300, 'x')};
    return kData[pick(kData.size())] + std::to_string(pick(10));
  }

  template <class T>
  std::string compare(const std::string& what, const Result<T>& actual, const Result<T>& expected) {
    if (actual && expected && *actual == *expected) {
      return "";
    }
    return what + said_.str() + ": the answer is " +
           (actual ? "another" : base::to_string(actual.error())) + " than that of the model" +
           (expected ? "" : ", " + base::to_string(expected.error()));
  }

  std::string load() {
    const ObjectKey key = any_key();
    const FencingToken token = any_token();
    const auto expected = model_.load(key, token);
    ++seen["load " + std::to_string(expected->index())];
    return compare("load", actual_->load(key, token), expected);
  }

  std::string save(std::size_t count) {
    std::vector<ObjectSave> saves;
    std::set<ObjectKey> keys;
    while (saves.size() < count) {
      ObjectKey key = any_key();
      if (keys.insert(key).second) {
        saves.push_back({.key = std::move(key), .data = any_data(), .token = any_token()});
      }
    }
    const Batch batch =
        actual_->capabilities().atomic_batch && pick(2) == 0 ? Batch::all_or_none : Batch::each;
    said_ << (batch == Batch::each ? " each" : " all or none");
    const auto expected = model_.save(saves, batch);
    for (const store::SaveOutcome& outcome : *expected) {
      ++seen["save " + std::to_string(outcome.index())];
    }
    return compare("save", actual_->save(saves, batch), expected);
  }

  std::string erase() {
    const ObjectKey key = any_key();
    const FencingToken token = any_token();
    const auto expected = model_.erase(key, token);
    ++seen["erase " + std::to_string(expected->index())];
    return compare("erase", actual_->erase(key, token), expected);
  }

  std::string list() {
    const ObjectKey near = any_key();
    const std::string prefix = near.id.substr(0, pick(3));
    const std::string after = pick(2) == 0 ? "" : any_key().id;
    const std::size_t limit = 1 + pick(5);
    said_ << " prefix " << base::printable(prefix) << " limit " << limit;
    const auto actual = actual_->list(near.type, prefix, limit, after);
    const auto expected = model_.list(near.type, prefix, limit, after);
    if (actual && actual->ids == expected->ids && actual->next == expected->next) {
      return "";
    }
    return "list" + said_.str() + ": other ids than in the model" +
           (actual ? "" : ", " + base::to_string(actual.error()));
  }

  std::string open_again() {
    actual_.reset();
    actual_ = place_.open();
    return "";
  }

  const testing::RepositoryPlace place_;
  std::shared_ptr<store::ObjectRepository> actual_;
  engines::memory::MemoryRepository model_;
  std::mt19937_64 random_;
  int age_ = 0;
  std::ostringstream said_;
};

class RepositoryDifferential : public ::testing::Test {
 public:
  explicit RepositoryDifferential(const testing::RepositoryUnderTest& engine) : engine_(engine) {}

  void TestBody() override {
    History history(engine_.make_place(), 7);
    for (int step = 0; step < kOperations; ++step) {
      const std::string difference = history.step(step);
      ASSERT_EQ(difference, "") << "in step " << step;
    }
    for (const char* const answer :
         {"load 0", "load 1", "load 2", "save 0", "save 1", "erase 0", "erase 1"}) {
      EXPECT_GT(history.seen[answer], kOperations / 100) << answer;
    }
  }

 private:
  const testing::RepositoryUnderTest engine_;
};

}  // namespace

void register_repository_differential(const testing::RepositoryUnderTest& engine) {
  ::testing::RegisterTest(("repository_differential." + engine.name).c_str(),
                          "AnswersAsTheRepositoryInMemory", nullptr, nullptr, __FILE__, __LINE__,
                          [=]() -> ::testing::Test* { return new RepositoryDifferential(engine); });
}

}  // namespace holdfast::conformance
