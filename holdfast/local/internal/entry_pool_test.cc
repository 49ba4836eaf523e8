#include <holdfast/local/internal/entry_pool.h>

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>

#include <holdfast/local/internal/trash.h>
#include <holdfast/local/testing_support.h>

namespace holdfast::local::internal {
namespace {

struct alignas(32) Entry {
  Entry* next;
  std::uint64_t payload[3];
};

using Pool = EntryPool<Entry>;

// A pool as a shard uses it: the shard takes entries and returns them.
class Shard {
 public:
  Entry* take() {
    if (cache.head == nullptr) {
      pool.refill(cache);
    }
    ++taken_;
    return cache.pop();
  }
  void give(Entry* entry) {
    cache.push(entry);
    --taken_;
    if (cache.has_spare_slabs != 0) {
      Trash trash;
      pool.trim(cache, taken_, trash);
    }
  }

  Entry resident[2];
  EntryCache<Entry> cache;
  Pool pool{resident, 2, cache};

 private:
  std::size_t taken_ = 0;
};

TEST(EntryPool, HandsOutTheResidentsFirst) {
  Shard shard;
  const std::set<const Entry*> first{shard.take(), shard.take()};
  EXPECT_EQ(first, (std::set<const Entry*>{&shard.resident[0], &shard.resident[1]}));
  EXPECT_EQ(shard.cache.head, nullptr);
  EXPECT_EQ(shard.cache.count, 0U);
}

TEST(EntryPool, NeverHandsOutAnEntryTwice) {
  constexpr std::uint32_t kEntries = 5 * Pool::kPerSlab;
  Shard shard;
  std::set<Entry*> entries;
  for (std::uint32_t i = 0; i < kEntries; ++i) {
    Entry* const entry = shard.take();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(entry) % alignof(Entry), 0U);
    EXPECT_TRUE(entries.insert(entry).second);
    for (std::uint64_t& word : entry->payload) {
      word = i;  // all of it is ours to write
    }
  }
}

TEST(EntryPool, ReturnsEveryEntryToItsSlabInAnyOrder) {
  constexpr std::uint32_t kEntries = 5 * Pool::kPerSlab + 17;
  Shard shard;
  for (const std::uint32_t stride : {1U, 7U, 101U, kEntries - 1}) {
    std::vector<Entry*> entries;
    for (std::uint32_t i = 0; i < kEntries; ++i) {
      entries.push_back(shard.take());
    }
    EXPECT_EQ(std::set<Entry*>(entries.begin(), entries.end()).size(), kEntries);
    EXPECT_EQ(shard.cache.has_spare_slabs, 1U);
    // The strides have no factor in common with the number of entries.
    for (std::uint32_t i = 0; i < kEntries; ++i) {
      shard.give(entries[i * std::uint64_t{stride} % kEntries]);
    }
    EXPECT_EQ(shard.cache.has_spare_slabs, 0U);
  }
}

TEST(EntryPool, KeepsTheCacheSmallWhileOthersAreStillHeld) {
  Shard shard;
  Entry* const held = shard.take();
  std::vector<Entry*> entries;
  for (std::uint32_t i = 0; i < 20 * Pool::kPerSlab; ++i) {
    entries.push_back(shard.take());
  }
  for (Entry* const entry : entries) {
    shard.give(entry);
    ASSERT_LE(shard.cache.count, 2 * Pool::kPerSlab);
  }
  shard.give(held);
  EXPECT_EQ(shard.cache.has_spare_slabs, 0U);
}

TEST(EntryPool, FreesEmptySlabs) {
  if (testing_support::kSanitized) {
    GTEST_SKIP() << "a sanitizer has an allocator of its own";
  }
  Shard shard;
  constexpr std::uint32_t kSlabs = 40;
  std::vector<Entry*> entries(kSlabs * Pool::kPerSlab);
  const std::size_t before = mallinfo2().uordblks;
  const std::size_t slab_bytes = Pool::kPerSlab * sizeof(Entry);
  for (int round = 0; round < 3; ++round) {
    for (Entry*& entry : entries) {
      entry = shard.take();
    }
    EXPECT_GE(mallinfo2().uordblks, before + (kSlabs - 1) * slab_bytes);
    for (Entry* const entry : entries) {
      shard.give(entry);
    }
    // All but one, plus what malloc itself keeps between the slabs.
    EXPECT_LE(mallinfo2().uordblks, before + kSlabs / 4 * slab_bytes);
  }
}

TEST(EntryPool, KeepsAsManySlabsAsItWasAskedTo) {
  if (testing_support::kSanitized) {
    GTEST_SKIP() << "a sanitizer has an allocator of its own";
  }
  constexpr std::size_t kSlabs = 12;
  constexpr std::size_t kSlabBytes = Pool::kPerSlab * sizeof(Entry);
  for (const std::size_t kept : {std::size_t{0}, std::size_t{10}}) {
    Shard shard;
    const std::size_t before = mallinfo2().uordblks;
    shard.pool.keep(kept * Pool::kPerSlab);
    std::vector<Entry*> entries(kSlabs * Pool::kPerSlab);
    const std::size_t of_the_test = mallinfo2().uordblks - before;
    for (int round = 0; round < 2; ++round) {
      for (Entry*& entry : entries) {
        entry = shard.take();
      }
      for (Entry* const entry : entries) {
        shard.give(entry);
      }
      const std::size_t left = mallinfo2().uordblks - before - of_the_test;
      EXPECT_GE(left, kept * kSlabBytes);
      // Allows for the memory that malloc itself keeps between the slabs.
      EXPECT_LE(left, (kept + 1) * kSlabBytes);
      EXPECT_EQ(shard.cache.has_spare_slabs, 0U);
    }
  }
}

TEST(EntryPool, ReservedEntriesAreAllocatedAtOnceAndOnlyOnce) {
  if (testing_support::kSanitized) {
    GTEST_SKIP() << "a sanitizer has an allocator of its own";
  }
  constexpr std::size_t kEntries = 3 * Pool::kPerSlab;
  Shard shard;
  shard.pool.keep(kEntries);
  shard.pool.reserve(kEntries);
  const std::size_t reserved = mallinfo2().uordblks;
  for (std::size_t i = 0; i < kEntries; ++i) {
    shard.take();
  }
  EXPECT_EQ(mallinfo2().uordblks, reserved);
}

TEST(EntryPool, KeepsTheResidentsForEver) {
  Shard shard;
  for (int round = 0; round < 3; ++round) {
    std::vector<Entry*> entries(4 * Pool::kPerSlab);
    for (Entry*& entry : entries) {
      entry = shard.take();
    }
    for (Entry* const entry : entries) {
      shard.give(entry);
    }
    std::set<const Entry*> in_cache;
    for (const Entry* entry = shard.cache.head; entry != nullptr; entry = entry->next) {
      in_cache.insert(entry);
    }
    EXPECT_EQ(in_cache.size(), shard.cache.count);
    EXPECT_TRUE(in_cache.contains(&shard.resident[0]));
    EXPECT_TRUE(in_cache.contains(&shard.resident[1]));
  }
}

TEST(Trash, FreesEveryBlockAtItsEnd) {
  // The leak checker verifies this.
  Trash trash;
  trash.add(nullptr);
  for (int i = 0; i < 10; ++i) {
    trash.add(std::malloc(sizeof(void*)));
  }
}

}  // namespace
}  // namespace holdfast::local::internal
