#include <holdfast/store/leases.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/store/lease_rules.h>

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;
using base::LeaseId;
using base::TimePoint;

StoredLease lease(std::uint64_t number, TimePoint expires, std::uint32_t permits = 1) {
  return {.id = LeaseId(number * 7919 % 100'003, number),
          .owner = "me",
          .reason = {},
          .permits = permits,
          .token = base::FencingToken(number),
          .granted = TimePoint(0s),
          .expires = expires};
}

bool ends_before(const StoredLease& one, const StoredLease& two) {
  return one.expires != two.expires ? one.expires < two.expires : one.id < two.id;
}

std::vector<StoredLease> all(const Leases& leases) { return {leases.begin(), leases.end()}; }

std::vector<StoredLease> copies(const std::vector<const StoredLease*>& leases) {
  std::vector<StoredLease> result;
  for (const StoredLease* each : leases) {
    result.push_back(*each);
  }
  return result;
}

// The same answers from a vector.
void expect_same(const Leases& leases, const std::vector<StoredLease>& model) {
  ASSERT_EQ(all(leases), model);
  std::uint64_t used = 0;
  TimePoint last = TimePoint::min();
  for (const StoredLease& each : model) {
    used += each.permits;
    last = std::max(last, each.expires);
    const StoredLease* const found = leases.find(each.id);
    ASSERT_TRUE(found);
    ASSERT_EQ(*found, each);
  }
  ASSERT_EQ(leases.size(), model.size());
  ASSERT_EQ(leases.used(), used);
  ASSERT_EQ(leases.last_expiry(), last);
  ASSERT_EQ(leases.find(LeaseId(1, 999'999)), nullptr);
  std::vector<StoredLease> sorted = model;
  std::ranges::sort(sorted, ends_before);
  for (const std::size_t count : {0UL, 1UL, 16UL, 1000UL}) {
    const auto kept = static_cast<std::ptrdiff_t>(std::min(count, sorted.size()));
    ASSERT_EQ(copies(leases.first_to_end(count)),
              std::vector(sorted.begin(), sorted.begin() + kept));
    ASSERT_EQ(copies(leases.last_to_end(count)),
              std::vector(sorted.rbegin(), sorted.rbegin() + kept));
  }
}

TEST(Leases, FewAndManyAnswerAsAPlainListDoes) {
  std::mt19937 random(4711);
  Leases leases;
  std::vector<StoredLease> model;
  std::uint64_t number = 0;
  TimePoint now{};
  for (int step = 0; step < 6'000; ++step) {
    // Up to about 60, then down to none, and again.
    const bool grows = step % 400 < 200;
    const auto any = [&] { return model[random() % model.size()].id; };
    const auto choice = random() % 10;
    if (grows ? choice < 6 : choice < 2) {
      const auto permits = static_cast<std::uint32_t>(1 + random() % 3);
      const StoredLease added =
          lease(++number, now + std::chrono::seconds(1 + random() % 50), permits);
      ASSERT_EQ(leases.insert(added), added);
      model.push_back(added);
    } else if (choice == 6 && !model.empty()) {
      const LeaseId id = any();
      const TimePoint expires = now + std::chrono::seconds(1 + random() % 80);
      leases.extend(id, expires);
      std::ranges::find(model, id, &StoredLease::id)->expires = expires;
    } else if (choice == 7) {
      now += 1s;
      leases.drop_ended(now);
      std::erase_if(model, [&](const StoredLease& each) { return each.expires <= now; });
    } else if (choice > 7 && !model.empty()) {
      const LeaseId id = any();
      leases.erase(id);
      std::erase_if(model, [&](const StoredLease& each) { return each.id == id; });
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(leases, model)) << step;
  }
}

TEST(Leases, ACopyIsOnItsOwnAndWhatIsMovedFromIsEmpty) {
  for (const std::uint64_t count : {3U, 40U}) {
    Leases leases;
    for (std::uint64_t i = 1; i <= count; ++i) {
      leases.insert(lease(i, TimePoint(1s * i)));
    }
    const std::vector<StoredLease> before = all(leases);
    Leases copy = leases;
    copy.drop_ended(TimePoint(2s));
    copy.extend(copy.front().id, TimePoint(1h));
    expect_same(leases, before);
    EXPECT_EQ(copy.last_expiry(), TimePoint(1h));
    Leases moved = std::move(leases);
    expect_same(moved, before);
    expect_same(leases, {});  // NOLINT(bugprone-use-after-move): it is empty, as the header says
    leases = copy;
    EXPECT_EQ(leases, copy);
    leases.clear();
    expect_same(leases, {});
  }
}

TEST(Leases, AnIdThatADamagedRecordHasTwiceIsRemovedTwice) {
  for (const std::uint64_t count : {3U, 40U}) {
    Leases leases;
    for (std::uint64_t i = 1; i <= count; ++i) {
      leases.insert(lease(i, TimePoint(1s)));
      leases.insert(lease(i, TimePoint(1s)));
    }
    const LeaseId id = leases.front().id;
    leases.erase(id);
    EXPECT_EQ(leases.find(id), nullptr);
    EXPECT_EQ(leases.used(), 2 * count - 2);
    leases.drop_ended(TimePoint(1s));
    EXPECT_TRUE(leases.empty());
  }
}

// Does everything once to a name with so many holders, and returns how many leases that visited.
std::uint64_t visits_with(std::uint64_t holders) {
  const Instant now{.time = TimePoint(1h), .token_floor = 1};
  Record record;
  auto wish = [number = std::uint64_t{0}](Permits permits) mutable {
    return Claim{
        .id = LeaseId(1, ++number), .owner = "me", .reason = {}, .ttl = 1min, .permits = permits};
  };
  for (std::uint64_t i = 0; i < holders; ++i) {
    EXPECT_TRUE(lease_rules::claim(record, wish(Permits::reader()), now));
  }
  const std::uint64_t before = Leases::visits();
  const Claim reader = wish(Permits::reader());
  const Claim next = wish(Permits::reader());
  const Claim writer = wish(Permits::writer());
  EXPECT_TRUE(lease_rules::claim(record, reader, now));
  EXPECT_TRUE(lease_rules::claim(record, reader, now));
  EXPECT_EQ(lease_rules::renew(record, reader.id, 2min, now), RenewOutcome::renewed);
  EXPECT_TRUE(lease_rules::transfer(record, reader.id, next, now));
  EXPECT_EQ(lease_rules::release(record, next.id, now), ReleaseOutcome::released);
  EXPECT_EQ(lease_rules::release(record, next.id, now), ReleaseOutcome::not_held);
  EXPECT_TRUE(lease_rules::claim(record, writer, now));
  EXPECT_FALSE(lease_rules::claim(record, wish(Permits::of(1, 7)), now));
  EXPECT_FALSE(lease_rules::is_tombstone(record, now));
  EXPECT_EQ(lease_rules::load_of(record).permits, holders);
  return Leases::visits() - before;
}

TEST(Leases, AnOperationOnOneOfManyVisitsNoMoreThanOneOfTwenty) {
  EXPECT_EQ(visits_with(20), visits_with(10'000));
}

}  // namespace
}  // namespace holdfast::store
