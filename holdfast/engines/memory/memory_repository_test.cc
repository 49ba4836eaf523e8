#include <holdfast/engines/memory/memory_repository.h>

#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>

namespace holdfast::engines::memory {
namespace {

using base::FencingToken;
using store::Batch;
using store::ObjectKey;
using store::ObjectSave;
using namespace std::chrono_literals;

void save(MemoryRepository& repository, const ObjectKey& key, FencingToken token) {
  const ObjectSave one{.key = key, .data = "data", .token = token};
  ASSERT_EQ(repository.save({&one, 1}, Batch::each)->front(), store::SaveOutcome(store::Saved{}));
}

ObjectKey key_of(int number) { return {.type = "order", .id = std::to_string(number)}; }

TEST(MemoryRepository, ErasedWithoutATokenLeavesNothingBehind) {
  MemoryRepository repository;
  for (int i = 0; i < 100'000; ++i) {
    const ObjectKey key = key_of(i);
    save(repository, key, FencingToken(0));
    ASSERT_EQ(repository.erase(key, FencingToken(0)), store::EraseOutcome(store::Erased{true}));
    ASSERT_LE(repository.size(), 1U);
  }
  EXPECT_EQ(repository.load(key_of(1), FencingToken(0)), store::LoadOutcome(store::Absent{}));
  EXPECT_EQ(repository.erase(key_of(1), FencingToken(0)),
            store::EraseOutcome(store::Erased{false}));
  EXPECT_EQ(repository.size(), 0U);
}

TEST(MemoryRepository, TokensOfErasedObjectsAreForgottenAfterTheirTime) {
  base::ManualClock clock;
  MemoryRepository repository({.clock = &clock, .retention = 1h});
  constexpr int kEachHour = 10'000;
  for (int i = 0; i < 5 * kEachHour; ++i) {
    const ObjectKey key = key_of(i);
    save(repository, key, FencingToken(7));
    ASSERT_EQ(repository.erase(key, FencingToken(7)), store::EraseOutcome(store::Erased{true}));
    clock.advance(base::Duration(1h) / kEachHour);
    ASSERT_LE(repository.size(), kEachHour + kEachHour / 10);
  }
  EXPECT_EQ(repository.load(key_of(5 * kEachHour - 1), FencingToken(6)),
            store::LoadOutcome(store::Refused{FencingToken(7)}));
}

TEST(MemoryRepository, ATokenThatIsUsedIsNotForgotten) {
  base::ManualClock clock;
  MemoryRepository repository({.clock = &clock, .retention = 1h});
  const ObjectKey used = key_of(1);
  const ObjectKey unused = key_of(2);
  for (const ObjectKey& key : {used, unused}) {
    ASSERT_EQ(repository.load(key, FencingToken(7)), store::LoadOutcome(store::Absent{}));
  }
  clock.advance(40min);
  ASSERT_EQ(repository.load(used, FencingToken(7)), store::LoadOutcome(store::Absent{}));
  clock.advance(40min);
  EXPECT_EQ(repository.load(used, FencingToken(6)),
            store::LoadOutcome(store::Refused{FencingToken(7)}));
  EXPECT_EQ(repository.load(unused, FencingToken(6)), store::LoadOutcome(store::Absent{}));
}

TEST(MemoryRepository, WhatCameBackAfterItsEraseIsNotForgotten) {
  base::ManualClock clock;
  MemoryRepository repository({.clock = &clock, .retention = 1h});
  const ObjectKey key = key_of(1);
  ASSERT_EQ(repository.erase(key, FencingToken(7)), store::EraseOutcome(store::Erased{false}));
  save(repository, key, FencingToken(7));
  clock.advance(2h);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(repository.load(key, FencingToken(7)), store::LoadOutcome(store::Loaded{"data"}));
  }
}

TEST(MemoryRepository, BatchesThatOverlapInAnyOrderDoNotBlockEachOther) {
  MemoryRepository repository;
  const auto save_all = [&](bool backwards) {
    std::vector<ObjectSave> saves;
    for (int i = 0; i < 100; ++i) {
      saves.push_back(
          {.key = key_of(backwards ? 99 - i : i), .data = "x", .token = FencingToken(0)});
    }
    for (int round = 0; round < 500; ++round) {
      ASSERT_TRUE(repository.save(saves, Batch::all_or_none));
    }
  };
  {
    const std::jthread forwards(save_all, false);
    const std::jthread backwards(save_all, true);
  }
  EXPECT_EQ(repository.size(), 100U);
}

}  // namespace
}  // namespace holdfast::engines::memory
