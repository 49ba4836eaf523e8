#include <holdfast/local/internal/chain_table.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::local::internal {
namespace {

struct Item {
  Item* next;
  std::uint32_t hash;
};

using Table = ChainTable<Item>;

bool contains(const Table& table, const Item& item) {
  const Item* found = table.chain(item.hash);
  while (found != nullptr && found != &item) {
    found = found->next;
  }
  return found != nullptr;
}

std::size_t chain_length(const Item* item) {
  std::size_t length = 0;
  for (; item != nullptr; item = item->next) {
    ++length;
  }
  return length;
}

std::size_t walk(const Table& table) {
  std::size_t count = 0;
  for (std::uint32_t bucket = 0; bucket < table.bucket_count(); ++bucket) {
    count += chain_length(table.chain_at(bucket));
  }
  return count;
}

// Returns items with these hashes, at stable addresses.
std::deque<Item> items_with(auto hash_of, std::uint32_t count) {
  std::deque<Item> items;
  for (std::uint32_t i = 0; i < count; ++i) {
    items.push_back({nullptr, hash_of(i)});
  }
  return items;
}

std::uint32_t scattered(std::uint32_t i) { return i * 0x9E3779B1U; }

TEST(ChainTable, IsEmptyAtFirst) {
  const Table table;
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.chain(0), nullptr);
  EXPECT_EQ(table.chain(0xFFFFFFFFU), nullptr);
}

// After each step of growing and of shrinking, every item is still found.
TEST(ChainTable, FindsEverythingWhileItGrowsAndShrinks) {
  constexpr std::uint32_t kItems = 300;
  Table table;
  std::deque<Item> items = items_with(scattered, kItems);
  for (std::uint32_t i = 0; i < kItems; ++i) {
    Trash trash;
    table.insert(&items[i], trash);
    ASSERT_EQ(table.size(), i + 1);
    for (std::uint32_t k = 0; k < kItems; ++k) {
      ASSERT_EQ(contains(table, items[k]), k <= i) << k << " of " << i;
    }
  }
  for (std::uint32_t i = 0; i < kItems; ++i) {
    Trash trash;
    table.remove(&items[i], trash);
    ASSERT_EQ(table.size(), kItems - i - 1);
    for (std::uint32_t k = 0; k < kItems; ++k) {
      ASSERT_EQ(contains(table, items[k]), k > i) << k << " of " << i;
    }
  }
}

// The exact number of buckets is tuning; these bounds must hold in any case.
bool has_enough_buckets(const Table& table) { return table.size() <= 4 + 2 * table.bucket_count(); }
bool has_too_many_buckets(const Table& table) {
  return table.bucket_count() > 4 + 3 * table.size();
}

TEST(ChainTable, SpreadsItsEntriesAndResizesInSmallSteps) {
  constexpr std::uint32_t kItems = 10'000;
  Table table;
  std::deque<Item> items = items_with([](std::uint32_t i) { return i; }, kItems);
  for (Item& item : items) {
    const std::uint32_t before = table.bucket_count();
    Trash trash;
    table.insert(&item, trash);
    ASSERT_LE(table.bucket_count(), before + 2);
    ASSERT_TRUE(has_enough_buckets(table));
  }
  for (std::uint32_t bucket = 0; bucket < table.bucket_count(); ++bucket) {
    ASSERT_NE(table.chain_at(bucket), nullptr);
    ASSERT_LE(chain_length(table.chain_at(bucket)), 4U);
  }
  for (Item& item : items) {
    const std::uint32_t before = table.bucket_count();
    Trash trash;
    table.remove(&item, trash);
    ASSERT_GE(table.bucket_count() + 2, before);
    ASSERT_FALSE(has_too_many_buckets(table));
  }
  EXPECT_EQ(table.bucket_count(), Table().bucket_count());
}

TEST(ChainTable, ToleratesEntriesOfOneHash) {
  Table table;
  std::deque<Item> items = items_with([](std::uint32_t) { return 7U; }, 100);
  Trash trash;
  for (Item& item : items) {
    table.insert(&item, trash);
  }
  std::ranges::for_each(items, [&](const Item& item) { EXPECT_TRUE(contains(table, item)); });
  for (std::size_t i = 0; i < items.size(); i += 2) {
    table.remove(&items[i], trash);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(contains(table, items[i]), i % 2 == 1);
  }
}

TEST(ChainTable, HoldsWhatWasInsertedAndNotRemovedAfterAnySequence) {
  constexpr std::uint32_t kItems = 512;
  std::mt19937 random(4711);
  Table table;
  std::deque<Item> items =
      items_with([&](std::uint32_t) { return static_cast<std::uint32_t>(random()); }, kItems);
  std::vector<bool> in(kItems, false);
  for (int step = 0; step < 20'000; ++step) {
    // Long phases of growing and of shrinking, to go through every number of buckets.
    const bool growing = step / 2000 % 2 == 0;
    const std::size_t i = random() % kItems;
    if (in[i] != growing || random() % 8 == 0) {
      Trash trash;
      in[i] ? table.remove(&items[i], trash) : table.insert(&items[i], trash);
      in[i] = !in[i];
    }
    const std::size_t probe = random() % kItems;
    ASSERT_EQ(contains(table, items[probe]), in[probe]);
  }
  EXPECT_EQ(table.size(), std::ranges::count(in, true));
  EXPECT_EQ(walk(table), table.size());
}

TEST(ChainTable, DoesNotResizeWhileForbiddenAndSettlesAfterwards) {
  constexpr std::uint32_t kItems = 1000;
  Table table;
  std::deque<Item> items = items_with(scattered, kItems);
  Trash trash;
  const std::uint32_t few = table.bucket_count();
  for (Item& item : items) {
    table.insert(&item, trash, Resize::forbidden);
  }
  EXPECT_EQ(table.bucket_count(), few);
  while (!table.settle(trash)) {
  }
  EXPECT_TRUE(has_enough_buckets(table));
  EXPECT_EQ(walk(table), kItems);
  const std::uint32_t many = table.bucket_count();
  for (Item& item : items) {
    ASSERT_TRUE(contains(table, item));
    table.remove(&item, trash, Resize::forbidden);
  }
  EXPECT_EQ(table.bucket_count(), many);
  while (!table.settle(trash)) {
  }
  EXPECT_EQ(table.bucket_count(), few);
}

TEST(ChainTable, RemovesByBucketAndSettlesAfterwards) {
  constexpr std::uint32_t kItems = 5000;
  Table table;
  std::deque<Item> items = items_with(scattered, kItems);
  Trash trash;
  for (Item& item : items) {
    table.insert(&item, trash);
  }
  const std::uint32_t buckets = table.bucket_count();
  std::set<const Item*> disposed;
  for (std::uint32_t bucket = 0; bucket < table.bucket_count(); ++bucket) {
    table.remove_if_at(
        bucket, [&](const Item& item) { return &item != &items.front() && &item != &items.back(); },
        [&](Item* item) {
          item->next = nullptr;  // it is ours again
          EXPECT_TRUE(disposed.insert(item).second);
        });
  }
  EXPECT_EQ(disposed.size(), kItems - 2);
  EXPECT_EQ(table.bucket_count(), buckets);
  EXPECT_EQ(table.size(), 2U);

  EXPECT_FALSE(table.settle(trash));
  EXPECT_GE(table.bucket_count(), buckets / 2) << "one call does a bounded part of the work";
  while (!table.settle(trash)) {
  }
  EXPECT_FALSE(has_too_many_buckets(table));
  EXPECT_TRUE(contains(table, items.front()));
  EXPECT_TRUE(contains(table, items.back()));
  EXPECT_FALSE(contains(table, items[1]));
}

}  // namespace
}  // namespace holdfast::local::internal
