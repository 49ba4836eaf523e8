#include <holdfast/engines/memory/internal/record_table.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::engines::memory::internal {
namespace {

RecordTable::Entry* find(RecordTable& table, const std::string& name) {
  return table.find(name, RecordTable::hash_of(name));
}
RecordTable::Entry& add(RecordTable& table, const std::string& name) {
  return table.find_or_add(name, RecordTable::hash_of(name));
}

TEST(RecordTable, FindsWhatAMapFindsOverARandomHistory) {
  RecordTable table;
  std::map<std::string, std::uint64_t> model;
  std::mt19937 random(7);
  for (std::uint64_t step = 1; step <= 100'000; ++step) {
    const std::string name = "job/" + std::to_string(random() % 500);
    if (random() % 2 == 0) {
      add(table, name).record.last_token = step;
      model[name] = step;
    } else if (RecordTable::Entry* const found = find(table, name)) {
      table.erase(*found);
      EXPECT_EQ(model.erase(name), 1U);
    }
    ASSERT_EQ(table.size(), model.size());
  }
  for (int i = 0; i < 500; ++i) {
    const std::string name = "job/" + std::to_string(i);
    const RecordTable::Entry* const found = find(table, name);
    ASSERT_EQ(found != nullptr, model.contains(name));
    if (found != nullptr) {
      EXPECT_EQ(found->record.last_token, model.at(name));
    }
  }
}

TEST(RecordTable, TellsNamesWithTheSameHashApart) {
  RecordTable table;
  constexpr std::uint64_t kHash = 42;
  table.find_or_add("a", kHash).record.last_token = 1;
  table.find_or_add("b", kHash).record.last_token = 2;
  EXPECT_EQ(table.find("a", kHash)->record.last_token, 1U);
  EXPECT_EQ(table.find("b", kHash)->record.last_token, 2U);
  EXPECT_EQ(table.find("c", kHash), nullptr);
}

TEST(RecordTable, NamesThatComeAndGoDoNotMakeItGrow) {
  RecordTable table;
  for (int i = 0; i < 100; ++i) {
    (void)add(table, "held/" + std::to_string(i));
  }
  const std::size_t slots = table.slots();
  for (int i = 0; i < 100'000; ++i) {
    table.erase(add(table, "brief/" + std::to_string(i)));
  }
  EXPECT_LE(table.slots(), slots);
  EXPECT_EQ(table.size(), 100U);
}

TEST(RecordTable, NoEntryMovesUnlessItSaysSo) {
  RecordTable table;
  std::mt19937 random(7);
  std::map<std::string, std::size_t> places;
  std::uint64_t moves = table.moves();
  for (int step = 0; step < 2'000; ++step) {
    const std::string name = std::to_string(random() % 300);
    if (RecordTable::Entry* const found = find(table, name)) {
      table.erase(*found);
    } else {
      (void)add(table, name);
    }
    std::map<std::string, std::size_t> now;
    for (std::size_t slot = 0; slot < table.slots(); ++slot) {
      if (const RecordTable::Entry* const entry = table.at(slot)) {
        now.emplace(entry->name, slot);
      }
    }
    if (table.moves() == moves) {
      for (const auto& [name_before, slot] : places) {
        const auto found = now.find(name_before);
        ASSERT_TRUE(found == now.end() || found->second == slot);
      }
    }
    moves = table.moves();
    places.swap(now);
  }
}

}  // namespace
}  // namespace holdfast::engines::memory::internal
