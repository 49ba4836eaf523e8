#include <array>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/objects/object_host.h>
#include <holdfast/objects/testing_support.h>

namespace holdfast::objects {
namespace {

using base::ErrorCode;
using base::value_or_throw;
using testing::answer;
using testing::HostTest;
using testing::Scripted;

auto move_one(Scripted& from, Scripted& to) {
  from.add(-1);
  to.add(1);
}

class ObjectHostTogether : public ::testing::Test {
 protected:
  [[nodiscard]] std::string stored(const std::string& id) {
    return test_.repository->stored("scripted", id);
  }
  HostTest test_;
  ObjectHost& host_ = test_.host;
};

TEST_F(ObjectHostTogether, AllAreChangedAndSaved) {
  EXPECT_TRUE((host_.together<Scripted, Scripted>({"b", "a"}, move_one)));
  EXPECT_EQ(host_.call<&Scripted::value>("a"), 1);
  EXPECT_EQ(host_.call<&Scripted::value>("b"), -1);
  EXPECT_EQ(stored("a"), R"({"value":1})");
  EXPECT_EQ(stored("b"), R"({"value":-1})");
  EXPECT_EQ(test_.repository->batches(), std::vector<std::size_t>{2});
  EXPECT_EQ(host_.save_all(), 0U);
  EXPECT_EQ(host_.stats().keys_in_use, 0U);
}

TEST_F(ObjectHostTogether, ReturnsTheResultOfTheWork) {
  EXPECT_EQ((host_.together<Scripted>({"a"}, [](Scripted& a) { return a.add(3); })), 3);
  EXPECT_EQ(
      (host_.together<Scripted>({"a"}, [](Scripted& a) -> base::Result<long> { return a.add(3); })),
      6);
}

TEST_F(ObjectHostTogether, FailedWorkLeavesTheObjectsAsTheyWere) {
  value_or_throw(host_.call<&Scripted::add>("a", 10));  // not saved
  const auto thrown = host_.together<Scripted, Scripted>({"a", "b"}, [](Scripted& a, Scripted& b) {
    move_one(a, b);
    throw std::runtime_error("out of paper");
  });
  EXPECT_EQ(answer(thrown), "failed");
  const auto refused = host_.together<Scripted, Scripted>(
      {"a", "b"}, [](Scripted& a, Scripted& b) -> base::Result<void> {
        move_one(a, b);
        return base::fail(ErrorCode::conflict, "overdrawn");
      });
  EXPECT_EQ(answer(refused), "conflict");
  EXPECT_EQ(host_.call<&Scripted::value>("a"), 10);
  EXPECT_EQ(host_.call<&Scripted::value>("b"), 0);
  EXPECT_TRUE(test_.repository->batches().empty());
}

TEST_F(ObjectHostTogether, AFailedSaveLeavesTheObjectsAsTheyWere) {
  value_or_throw(host_.call<&Scripted::add>("a", 10));
  test_.repository->on_save = [] { return base::fail(ErrorCode::unavailable, "away"); };
  EXPECT_EQ(answer(host_.together<Scripted, Scripted>({"a", "b"}, move_one)), "unavailable");
  EXPECT_EQ(host_.call<&Scripted::value>("a"), 10);
  EXPECT_EQ(host_.call<&Scripted::value>("b"), 0);
  test_.repository->on_save = {};
  EXPECT_EQ(host_.save_all(), 2U);
}

TEST_F(ObjectHostTogether, TheStoredStateDecidesAfterAnUnknownOutcome) {
  value_or_throw(host_.call<&Scripted::add>("a", 10));
  value_or_throw(host_.save_all());
  test_.repository->on_save = [this, first = true]() mutable -> base::Result<void> {
    if (std::exchange(first, false)) return base::fail(ErrorCode::unknown_outcome, "no answer");
    return base::fail(ErrorCode::unavailable, "away");
  };
  EXPECT_EQ(answer(host_.together<Scripted, Scripted>({"a", "b"}, move_one)), "unknown_outcome");
  EXPECT_EQ(host_.count(), 0U);
  EXPECT_EQ(host_.call<&Scripted::value>("a"), 10);
}

TEST_F(ObjectHostTogether, ARequestWithAnUnknownOutcomeIsRepeated) {
  test_.repository->on_save = [first = true]() mutable -> base::Result<void> {
    if (std::exchange(first, false)) return base::fail(ErrorCode::unknown_outcome, "no answer");
    return {};
  };
  EXPECT_TRUE((host_.together<Scripted, Scripted>({"a", "b"}, move_one)));
  EXPECT_EQ(stored("b"), R"({"value":1})");
}

TEST_F(ObjectHostTogether, AnObjectThatCannotBeRestoredIsLoadedAgain) {
  value_or_throw(host_.call<&Scripted::add>("a", 10));
  value_or_throw(host_.save_all());
  test_.script->on_from_data = [first = true]() mutable {
    if (std::exchange(first, false)) throw std::runtime_error("out of paper");
  };
  const auto result = host_.together<Scripted>({"a"}, [](Scripted& a) {
    a.add(1);
    throw std::runtime_error("no");
  });
  EXPECT_EQ(answer(result), "failed");
  EXPECT_EQ(host_.call<&Scripted::value>("a"), 10);
}

TEST_F(ObjectHostTogether, TheSameObjectTwiceIsRejected) {
  EXPECT_EQ(answer(host_.together<Scripted, Scripted>({"a", "a"}, move_one)), "invalid_argument");
}

TEST_F(ObjectHostTogether, ARepositoryThatCannotSaveAtomicallyIsRejected) {
  test_.repository->atomic_batch = false;
  EXPECT_EQ(answer(host_.together<Scripted, Scripted>({"a", "b"}, move_one)), "unsupported");
}

TEST_F(ObjectHostTogether, TheWorkMayCallThemThroughTheHost) {
  EXPECT_TRUE((host_.together<Scripted, Scripted>({"a", "b"}, [&](Scripted&, Scripted&) {
    EXPECT_EQ(host_.call<&Scripted::add>("a", 5), 5);
    EXPECT_EQ(answer(host_.save<Scripted>("a")), "invalid_argument");
    EXPECT_EQ(answer(host_.erase<Scripted>("b")), "invalid_argument");
    EXPECT_EQ(host_.call<&Scripted::add>("c", 1), 1);
  })));
  EXPECT_EQ(stored("a"), R"({"value":5})");
}

// If objects were locked in the callers' orders, each caller would hold its first object when it
// asks for the second.
TEST_F(ObjectHostTogether, OppositeOrdersAreLockedInTheSameOrder) {
  test_.repository->on_load = []() -> base::Result<void> {
    testing::let_others_err();
    return {};
  };
  std::jthread other(
      [&] { EXPECT_EQ(answer(host_.together<Scripted, Scripted>({"b", "a"}, move_one)), "done"); });
  EXPECT_EQ(answer(host_.together<Scripted, Scripted>({"a", "b"}, move_one)), "done");
}

// Transfers in all directions, concurrent with readers, saves and deletes of other objects: no
// deadlock, and half a transfer is never seen or saved.
TEST_F(ObjectHostTogether, OppositeOrdersDoNotDeadlockAndNothingIsTorn) {
  const std::array<std::string, 3> ids{"a", "b", "c"};
  std::atomic<bool> over = false;
  std::jthread saver([&] {
    while (!over) {
      EXPECT_TRUE(host_.save_all());
      EXPECT_TRUE(host_.erase<Scripted>("d"));
      static_cast<void>(host_.call<&Scripted::add>("d", 1));
    }
  });
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t round = 0; round < 300; ++round) {
          const std::string& from = ids[(t + round) % 3];
          const std::string& to = ids[(2 * t + round + 1) % 3];
          if (from == to) continue;
          EXPECT_TRUE((host_.together<Scripted, Scripted>({from, to}, move_one)));
          const auto sum = host_.together<Scripted, Scripted, Scripted>(
              {"c", "a", "b"}, [](Scripted& a, Scripted& b, Scripted& c) {
                return a.value() + b.value() + c.value();
              });
          EXPECT_EQ(sum, 0);
        }
      });
    }
  }
  over = true;
  saver.join();
}

}  // namespace
}  // namespace holdfast::objects
