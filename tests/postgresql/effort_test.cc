// The rows that the server reads for an operation, as it counts them, with few and with many
// others.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <tests/postgresql/postgres_test.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::LeaseId;
using store::Busy;
using store::Claim;
using store::Grant;
using store::LeaseStore;
using store::Permits;
using store::ReleaseOutcome;
using store::RenewOutcome;

constexpr int kFew = 20;
constexpr int kMany = 2'000;

class Effort : public PostgresTest {
 protected:
  // Returns how many rows of this schema the server reads for what is done with a store.
  template <class Operation>
  std::int64_t rows_of(Operation operation) {
    const std::int64_t before = rows();
    const std::string connections = connected();
    {
      const auto store = another_store();
      operation(*store);
    }
    // The server counts what a connection has read when it ends.
    EXPECT_TRUE(eventually([&] { return connected() == connections; }));
    return rows() - before;
  }
  void claim_all(const std::string& prefix, int count) {
    for (int i = 0; i < count; ++i) {
      expect<Grant>(store_->claim(prefix + std::to_string(i), wish()));
    }
  }

 private:
  std::int64_t rows() {
    return std::stoll(
        ask("SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0) "
            "FROM pg_stat_user_tables WHERE schemaname = '{schema}'"));
  }
  std::string connected() {
    return ask("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'");
  }
};

TEST_F(Effort, AnOperationOnOneLeaseReadsTheSameRowsHoweverManyHoldTheName) {
  const auto rows_with = [this](int count) {
    const std::string name = std::to_string(count) + " hold it";
    const Permits one = Permits::of(1, static_cast<std::uint32_t>(count));
    for (int i = 1; i < count; ++i) expect<Grant>(store_->claim(name, wish(one)));
    const Claim last = wish(one);
    const Claim heir = wish(one);
    const store::Renewal renewal{.name = name, .id = last.id, .ttl = 20min};
    std::vector<std::int64_t> rows;
    rows.push_back(rows_of([&](LeaseStore& it) { expect<Grant>(it.claim(name, last)); }));
    rows.push_back(rows_of([&](LeaseStore& it) { expect<Busy>(it.claim(name, wish(one))); }));
    rows.push_back(rows_of([&](LeaseStore& it) {
      EXPECT_EQ(base::value_or_throw(it.renew({&renewal, 1})).at(0), RenewOutcome::renewed);
    }));
    rows.push_back(
        rows_of([&](LeaseStore& it) { expect<Grant>(it.transfer(name, last.id, heir)); }));
    rows.push_back(rows_of(
        [&](LeaseStore& it) { EXPECT_EQ(it.release(name, heir.id), ReleaseOutcome::released); }));
    return rows;
  };
  const std::vector<std::int64_t> few = rows_with(kFew);
  const std::vector<std::int64_t> many = rows_with(kMany);
  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_LE(many[i], few[i] + kFew) << "operation " << i;
  }
}

TEST_F(Effort, AnOperationOnANameReadsItsRowAloneHoweverManyNamesThereAre) {
  claim_all("job ", kMany);
  const Claim claim = wish();
  const store::Renewal renewal{.name = "mine", .id = claim.id, .ttl = 20min};
  EXPECT_LE(rows_of([&](LeaseStore& it) {
              expect<Grant>(it.claim("mine", claim));
              expect<Busy>(it.claim("mine", wish()));
              EXPECT_EQ(base::value_or_throw(it.renew({&renewal, 1})).at(0), RenewOutcome::renewed);
              EXPECT_EQ(it.release("mine", claim.id), ReleaseOutcome::released);
            }),
            2 * kFew);
}

// The rows of a join are not counted: one that compares each lease of the request with each name
// would take longer than the server may take for its answer.
TEST_F(Effort, ARenewalOfAKeepersLeasesReadsEachNameAFewTimes) {
  constexpr int kNames = 20'000;
  constexpr int kLeases = 4'096;
  claim_all("the first makes the tables", 1);
  change(
      "INSERT INTO {schema}.records (name, holder, last_token, expires) "
      "SELECT convert_to('job ' || n, 'UTF8'), lpad(to_hex(n), 32, '0')::uuid, n, t + 600000000 "
      "FROM generate_series(1, " +
      std::to_string(kNames) +
      ") AS s(n), (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS t) AS now");
  std::vector<std::string> names;
  for (int i = 1; i <= kLeases; ++i) names.push_back("job " + std::to_string(i));
  std::vector<store::Renewal> renewals;
  for (const std::string& name : names) {
    renewals.push_back({.name = name, .id = LeaseId(0, renewals.size() + 1), .ttl = 20min});
  }
  EXPECT_LE(rows_of([&](LeaseStore& it) {
              const auto outcomes = base::value_or_throw(it.renew(renewals));
              EXPECT_EQ(std::ranges::count(outcomes, RenewOutcome::renewed), kLeases);
            }),
            4 * kNames);
}

TEST_F(Effort, APageOfAListingReadsItsOwnNames) {
  claim_all("job ", kMany);
  constexpr std::size_t kPage = 50;
  std::string after;
  const auto read_page = [&](LeaseStore& it) {
    const store::Page page =
        base::value_or_throw(it.list("job ", {.limit = kPage, .after = after}));
    EXPECT_EQ(page.names.size(), kPage);
    after = page.next;
  };
  EXPECT_LE(rows_of(read_page), 3 * static_cast<int>(kPage));
  EXPECT_LE(rows_of(read_page), 3 * static_cast<int>(kPage));
}

TEST_F(Effort, AReleaseReadsTheSameRowsHoweverManyWait) {
  const auto rows_with = [this](int count) {
    const std::string name = std::to_string(count) + " wait";
    const Claim holder = wish();
    expect<Grant>(store_->claim(name, holder));
    for (int i = 0; i < count; ++i) {
      Claim waiting = wish();
      waiting.waits = true;
      expect<Busy>(store_->claim(name, waiting));
    }
    return rows_of(
        [&](LeaseStore& it) { EXPECT_EQ(it.release(name, holder.id), ReleaseOutcome::released); });
  };
  const std::int64_t few = rows_with(kFew);
  EXPECT_LE(rows_with(kMany / 4), few + kFew);
}

}  // namespace
}  // namespace holdfast::tests
