#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/objects/object_host.h>
#include <holdfast/objects/testing_support.h>

namespace holdfast::objects {
namespace {

using base::ManualClock;
using base::value_or_throw;
using testing::answer;
using testing::Door;
using testing::eventually;
using testing::HostTest;
using testing::Scripted;
using namespace std::chrono_literals;

TEST(ObjectHostSaving, OnlyChangedObjectsAreSaved) {
  HostTest test;
  value_or_throw(test.host.create<Scripted>("a"));
  EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::saved);  // a new object is not stored yet
  EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::unchanged);
  value_or_throw(test.host.call<&Scripted::value>("a"));  // const
  EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::unchanged);
  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::saved);
  value_or_throw(test.host.call("scripted", "a", "value"));
  EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::unchanged);
  value_or_throw(test.host.call<&Scripted::touch>("a"));  // const, but calls mark_changed()
  EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::saved);
  value_or_throw(test.host.deactivate<Scripted>("a"));
  value_or_throw(test.host.create<Scripted>("a"));
  EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::unchanged);  // as it was loaded
}

TEST(ObjectHostSaving, SaveAllGoesInBatches) {
  HostOptions options = HostTest::quiet();
  options.save_batch = 10;
  HostTest test(options);
  for (int i = 0; i < 25; ++i) value_or_throw(test.host.create<Scripted>(std::to_string(i)));
  EXPECT_EQ(test.host.save_all(), 25U);
  EXPECT_EQ(test.repository->batches(), (std::vector<std::size_t>{10, 10, 5}));
  EXPECT_EQ(test.host.save_all(), 0U);
  EXPECT_EQ(test.repository->batches().size(), 3U);
}

TEST(ObjectHostSaving, ABatchIsLimitedInBytes) {
  HostTest test;
  class Big : public Object {
   public:
    [[nodiscard]] nlohmann::json to_data() const override { return std::string(3 << 20U, 'x'); }
    void from_data(const nlohmann::json&) override {}
  };
  test.host.register_type<Big>("big");
  for (const char* id : {"a", "b", "c", "d"}) value_or_throw(test.host.create<Big>(id));
  EXPECT_EQ(test.host.save_all(), 4U);
  EXPECT_EQ(test.repository->batches(), (std::vector<std::size_t>{2, 2}));
}

TEST(ObjectHostSaving, AnObjectThatIsTooLongFailsAlone) {
  HostTest test;
  class Huge : public Object {
   public:
    [[nodiscard]] nlohmann::json to_data() const override {
      return id() == "huge" ? std::string(9 << 20U, 'x') : std::string("small");
    }
    void from_data(const nlohmann::json&) override {}
  };
  test.host.register_type<Huge>("huge");
  for (const char* id : {"a", "huge", "z"}) value_or_throw(test.host.create<Huge>(id));
  EXPECT_EQ(answer(test.host.save_all()), "limit_exceeded");
  EXPECT_EQ(test.repository->size(), 2U);
  value_or_throw(test.host.erase<Huge>("huge"));
}

TEST(ObjectHostSaving, FailingObjectsDoNotKeepOthersFromBeingSaved) {
  HostOptions options = HostTest::quiet();
  options.save_batch = 2;
  HostTest test(options);
  class Failing : public Object {
   public:
    [[nodiscard]] nlohmann::json to_data() const override {
      if (id().starts_with("bad")) throw std::runtime_error("out of paper");
      return nullptr;
    }
    void from_data(const nlohmann::json&) override {}
  };
  test.host.register_type<Failing>("failing");
  for (int i = 0; i < 20; ++i) {
    value_or_throw(test.host.create<Failing>("good " + std::to_string(i)));
    value_or_throw(test.host.create<Failing>("bad " + std::to_string(i)));
  }
  EXPECT_EQ(answer(test.host.save_all()), "failed");
  EXPECT_EQ(test.repository->size(), 20U);
  EXPECT_EQ(test.host.stats().failed_saves, 20U);  // each was tried once
}

TEST(ObjectHostSaving, BusyObjectsDoNotKeepOthersFromBeingSaved) {
  HostOptions options = HostTest::quiet();
  options.save_batch = 2;
  options.key_wait = 1ms;
  HostTest test(options, {.calls = Calls::serial});
  for (int i = 0; i < 20; ++i) value_or_throw(test.host.create<Scripted>(std::to_string(i)));
  std::atomic<int> inside = 0;
  Door go_on;
  test.script->on_work = [&] {
    ++inside;
    go_on.pass();
  };
  std::vector<std::jthread> callers;
  for (int i = 0; i < 5; ++i) {
    callers.emplace_back(
        [&, i] { EXPECT_TRUE(test.host.call<&Scripted::work>(std::to_string(i))); });
  }
  EXPECT_TRUE(eventually([&] { return inside == 5; }));
  EXPECT_EQ(answer(test.host.save_all()), "timed_out");
  EXPECT_EQ(test.repository->size(), 15U);
  go_on.open();
  callers.clear();
  EXPECT_EQ(test.host.save_all(), 5U);
}

TEST(ObjectHostSaving, HappensPeriodically) {
  ManualClock clock;
  HostTest test({.save_every = 5s, .clock = &clock});
  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  clock.wait_for_sleepers(1);
  EXPECT_EQ(test.repository->size(), 0U);
  clock.advance(5s);
  EXPECT_TRUE(eventually([&] { return test.repository->size() == 1; }));
  clock.wait_for_sleepers(1);
  clock.advance(5s);
  clock.wait_for_sleepers(1);
  EXPECT_EQ(test.repository->batches().size(), 1U);  // nothing has changed

  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  clock.advance(5s);
  EXPECT_TRUE(eventually([&] { return test.host.stats().saved == 2; }));
  EXPECT_EQ(test.repository->stored("scripted", "a"), R"({"value":2})");
}

TEST(ObjectHostSaving, KeepsItsBeatHoweverLongASaveTakes) {
  ManualClock clock;
  HostTest test({.save_every = 5s, .clock = &clock});
  test.repository->on_save = [&]() -> base::Result<void> {
    clock.advance(3s);
    return {};
  };
  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  clock.wait_for_sleepers(1);
  clock.advance(5s);
  EXPECT_TRUE(eventually([&] { return test.host.stats().saved == 1; }));
  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  clock.wait_for_sleepers(1);
  clock.advance(2s);  // 10 s from the start
  EXPECT_TRUE(eventually([&] { return test.host.stats().saved == 2; }));
}

TEST(ObjectHostSaving, IsTriedAgainAfterAFailure) {
  ManualClock clock;
  HostTest test({.save_every = 5s, .clock = &clock});
  std::atomic<bool> away = true;
  test.repository->on_save = [&]() -> base::Result<void> {
    if (away) return base::fail(base::ErrorCode::unavailable, "away");
    return {};
  };
  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  clock.wait_for_sleepers(1);
  clock.advance(5s);
  EXPECT_TRUE(eventually([&] { return test.host.stats().failed_saves >= 1; }));
  away = false;
  EXPECT_TRUE(eventually([&] {
    clock.advance(5s);
    return test.repository->size() == 1;
  }));
}

TEST(ObjectHostSaving, AnObjectThatIsAlwaysBusyIsStillSaved) {
  HostTest test({.save_every = 1ms}, {.calls = Calls::serial});
  test.script->on_work = [] { std::this_thread::sleep_for(200us); };
  std::atomic<bool> over = false;
  std::vector<std::jthread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      while (!over) EXPECT_TRUE(test.host.call<&Scripted::work>("a"));
    });
  }
  EXPECT_TRUE(eventually([&] { return test.host.stats().saved >= 3; }));
  over = true;
}

TEST(ObjectHostSaving, NoChangeIsForgottenWhileSavesRun) {
  HostTest test({.save_every = 1ms});
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < kRounds; ++round) {
          EXPECT_TRUE(test.host.call<&Scripted::add>(std::to_string(round % 3), 1));
          if (round % 50 == 0) {
            EXPECT_TRUE(test.host.save_all());
          }
        }
      });
    }
  }
  value_or_throw(test.host.save_all());
  long stored = 0;
  for (int i = 0; i < 3; ++i) {
    stored += nlohmann::json::parse(test.repository->stored("scripted", std::to_string(i)))
                  .at("value")
                  .get<long>();
  }
  EXPECT_EQ(stored, kThreads * kRounds);
}

// An object that is changed just after its data was taken.
class ChangedMeanwhile : public Object {
 public:
  [[nodiscard]] nlohmann::json to_data() const override {
    const long data = value_;
    if (data == 1) {
      std::jthread([this] { value_or_throw(host().call<&ChangedMeanwhile::add>(id())); }).join();
    }
    return data;
  }
  void from_data(const nlohmann::json& data) override { value_ = data.get<long>(); }
  void add() { ++value_; }

 private:
  std::atomic<long> value_ = 0;
};

TEST(ObjectHostSaving, AChangeAfterTheDataWasTakenIsSavedTheNextTime) {
  HostTest test;
  test.host.register_type<ChangedMeanwhile>("changed");
  for (const char* id : {"saved alone", "saved in a batch"}) {
    value_or_throw(test.host.call<&ChangedMeanwhile::add>(id));
  }
  EXPECT_EQ(test.host.save<ChangedMeanwhile>("saved alone"), SaveStatus::saved);
  EXPECT_EQ(test.repository->stored("changed", "saved alone"), "1");
  EXPECT_EQ(test.host.save_all(), 2U);
  EXPECT_EQ(test.repository->stored("changed", "saved alone"), "2");
  EXPECT_EQ(test.repository->stored("changed", "saved in a batch"), "1");
  EXPECT_EQ(test.host.save_all(), 1U);
  EXPECT_EQ(test.repository->stored("changed", "saved in a batch"), "2");
}

TEST(ObjectHostSaving, SaveAllWaitsForASaveThatIsUnderWay) {
  HostTest test;
  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  Door inside;
  Door go_on;
  std::atomic<bool> saved = false;
  test.repository->on_save = [&]() -> base::Result<void> {
    inside.open();
    go_on.pass();
    saved = true;
    return {};
  };
  std::jthread first([&] { EXPECT_TRUE(test.host.save<Scripted>("a")); });
  inside.pass();
  std::jthread second([&] {
    EXPECT_TRUE(test.host.save_all());
    EXPECT_TRUE(saved);
  });
  testing::let_others_err();
  go_on.open();
}

TEST(ObjectHostSaving, SaveAllSavesWhatARunningSaveCouldNot) {
  HostTest test;
  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  Door inside;
  Door go_on;
  test.repository->on_save = [&, first = true]() mutable -> base::Result<void> {
    if (!std::exchange(first, false)) return {};
    inside.open();
    go_on.pass();
    return base::fail(base::ErrorCode::unavailable, "away");
  };
  std::jthread first([&] { EXPECT_EQ(answer(test.host.save_all()), "unavailable"); });
  inside.pass();
  std::jthread second([&] { EXPECT_EQ(test.host.save_all(), 1U); });
  testing::let_others_err();
  go_on.open();
}

TEST(ObjectHostSaving, HappensAtEachCallIfTheTypeSaysSo) {
  HostTest test(HostTest::quiet(), {.save = SaveWhen::each_call});
  value_or_throw(test.host.call<&Scripted::add>("a", 5));
  EXPECT_EQ(test.repository->stored("scripted", "a"), R"({"value":5})");
  value_or_throw(test.host.call<&Scripted::value>("a"));
  EXPECT_EQ(test.repository->batches().size(), 1U);
  test.repository->on_save = [] { return base::fail(base::ErrorCode::unavailable, "away"); };
  EXPECT_EQ(answer(test.host.call<&Scripted::add>("a", 5)), "unavailable");
  test.repository->on_save = {};
  EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::saved);
}

TEST(ObjectHostSaving, AtEachCallIncludesTheChangesOfNestedCalls) {
  HostTest test(HostTest::quiet(), {.save = SaveWhen::each_call});
  test.script->on_work = [&] { EXPECT_EQ(test.host.call<&Scripted::add>("a", 5), 5); };
  value_or_throw(test.host.call<&Scripted::work_without_change>("a"));
  EXPECT_EQ(test.repository->stored("scripted", "a"), R"({"value":5})");
}

TEST(ObjectHostSaving, HappensAtEachCallOfASerialType) {
  HostTest test(HostTest::quiet(), {.calls = Calls::serial, .save = SaveWhen::each_call});
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        EXPECT_TRUE(test.host.call<&Scripted::add>("a", 1));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(test.repository->stored("scripted", "a"), R"({"value":400})");
}

TEST(ObjectHostIdle, AnIdleObjectIsSavedAndLeavesMemory) {
  ManualClock clock;
  HostTest test({.save_every = std::nullopt, .idle_after = 60s, .clock = &clock});
  value_or_throw(test.host.call<&Scripted::add>("idle", 1));
  clock.wait_for_sleepers(1);
  clock.advance(40s);
  value_or_throw(test.host.call<&Scripted::add>("used", 1));
  clock.wait_for_sleepers(1);
  clock.advance(30s);
  EXPECT_TRUE(eventually([&] { return test.host.stats().idle == 1; }));  // counted last
  EXPECT_EQ(value_or_throw(test.host.ids("scripted")).ids, std::vector<std::string>{"used"});
  EXPECT_EQ(test.repository->stored("scripted", "idle"), R"({"value":1})");
  EXPECT_EQ(test.host.call<&Scripted::value>("idle"), 1);
}

TEST(ObjectHostIdle, LooksKeepTheirBeatHoweverLongASaveTakes) {
  ManualClock clock;
  HostTest test({.save_every = std::nullopt, .idle_after = 60s, .clock = &clock});  // every 15 s
  test.repository->on_save = [&]() -> base::Result<void> {
    clock.advance(10s);
    return {};
  };
  value_or_throw(test.host.call<&Scripted::add>("first", 1));
  clock.wait_for_sleepers(1);
  clock.advance(14s);
  value_or_throw(test.host.call<&Scripted::add>("second", 1));
  clock.wait_for_sleepers(1);
  clock.advance(47s);
  EXPECT_TRUE(eventually([&] { return test.host.stats().idle == 1; }));
  clock.wait_for_sleepers(1);
  clock.advance(4s);  // 75 s from the start
  EXPECT_TRUE(eventually([&] { return test.host.stats().idle == 2; }));
}

TEST(ObjectHostIdle, ObjectsUsedByTogetherStay) {
  ManualClock clock;
  HostTest test({.save_every = std::nullopt, .idle_after = 60s, .clock = &clock});
  for (const char* id : {"idle", "saved", "taken back"}) {
    value_or_throw(test.host.create<Scripted>(id));
  }
  clock.wait_for_sleepers(1);
  clock.advance(40s);
  value_or_throw(test.host.together<Scripted>({"saved"}, [](Scripted& object) { object.add(1); }));
  EXPECT_EQ(answer(test.host.together<Scripted>(
                {"taken back"}, [](Scripted&) { throw std::runtime_error("out of paper"); })),
            "failed");
  clock.wait_for_sleepers(1);
  clock.advance(30s);
  EXPECT_TRUE(eventually([&] { return test.host.stats().idle == 1; }));
  clock.wait_for_sleepers(1);
  EXPECT_EQ(value_or_throw(test.host.ids("scripted")).ids,
            (std::vector<std::string>{"saved", "taken back"}));
}

TEST(ObjectHostIdle, ManyObjectsLeaveMemoryTogether) {
  ManualClock clock;
  HostTest test({.save_every = std::nullopt, .idle_after = 60s, .clock = &clock});
  for (int i = 0; i < 2500; ++i) value_or_throw(test.host.create<Scripted>(std::to_string(i)));
  clock.wait_for_sleepers(1);
  clock.advance(100s);
  EXPECT_TRUE(eventually([&] { return test.host.count() == 0; }));
  EXPECT_EQ(test.repository->size(), 2500U);
}

TEST(ObjectHostIdle, AnObjectThatCannotBeSavedStays) {
  ManualClock clock;
  HostTest test({.save_every = std::nullopt, .idle_after = 60s, .clock = &clock});
  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  std::atomic<bool> away = true;
  test.repository->on_save = [&]() -> base::Result<void> {
    if (away) return base::fail(base::ErrorCode::unavailable, "away");
    return {};
  };
  clock.wait_for_sleepers(1);
  clock.advance(100s);
  EXPECT_TRUE(eventually([&] { return test.host.stats().failed_saves >= 1; }));
  EXPECT_EQ(test.host.count(), 1U);
  away = false;
  EXPECT_TRUE(eventually([&] {
    clock.advance(30s);
    return test.host.count() == 0;
  }));
}

}  // namespace
}  // namespace holdfast::objects
