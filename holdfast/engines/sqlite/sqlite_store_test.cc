#include <holdfast/engines/sqlite/sqlite_store.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/engines/sqlite/testing_support.h>

namespace holdfast::engines::sqlite {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using base::LeaseId;
using testing::is_held;
using testing::take;

class SqliteStoreTest : public ::testing::Test {
 protected:
  std::shared_ptr<SqliteStore> open() {
    return testing::open({.file = folder_ / "locks.db", .machine = {.clock = &clock_}});
  }
  ErrorCode code_of_claim(std::string_view name) {
    const auto outcome = store_->claim(name, testing::claim_of(LeaseId::generate()));
    EXPECT_FALSE(outcome.has_value());
    return outcome ? ErrorCode::internal : outcome.error().code;
  }

  // Has another program write this into a record.
  void check_spoilt(const std::string& column, const std::string& value) {
    SCOPED_TRACE(column + " = " + value);
    const auto id = LeaseId::generate();
    take(*store_, "a", id);
    testing::Stranger stranger(folder_ / "locks.db");
    stranger.run("UPDATE records SET " + column + " = " + value);
    const std::string row = "SELECT " + column + " || hex(leases) FROM records";
    const std::string before = stranger.ask(row);

    EXPECT_EQ(code_of_claim("a"), ErrorCode::corrupt);
    EXPECT_EQ(store_->release("a", id).error().code, ErrorCode::corrupt);
    EXPECT_EQ(store_->look("a").error().code, ErrorCode::corrupt);
    EXPECT_EQ(store_->hit("a", {.limit = 1, .period = 1s}).error().code, ErrorCode::corrupt);
    EXPECT_EQ(store_->list("").error().code, ErrorCode::corrupt);
    const store::Renewal renewal{.name = "a", .id = id, .ttl = 1s};
    EXPECT_EQ(store_->renew(std::span(&renewal, 1)).error().code, ErrorCode::corrupt);
    clock_.advance(10h);
    ASSERT_TRUE(store_->sweep_now().has_value());

    EXPECT_EQ(stranger.ask(row), before);
    stranger.run("DELETE FROM records");
  }

  testing::Folder folder_;
  base::ManualClock clock_;
  std::shared_ptr<SqliteStore> store_ = open();
};

TEST_F(SqliteStoreTest, TwoStoresOnOneFileExcludeEachOther) {
  const auto other = open();
  const auto id = LeaseId::generate();
  const std::uint64_t token = take(*store_, "a", id);
  const auto outcome = other->claim("a", testing::claim_of(LeaseId::generate()));
  ASSERT_TRUE(outcome.has_value());
  const auto* const busy = std::get_if<store::Busy>(&*outcome);
  ASSERT_NE(busy, nullptr);
  ASSERT_EQ(busy->holders.size(), 1U);
  EXPECT_EQ(busy->holders[0].id, id);
  EXPECT_EQ(busy->holders[0].owner, "tester");
  EXPECT_EQ(busy->holders[0].reason, "a test");
  EXPECT_EQ(busy->holders[0].token.value(), token);
  EXPECT_EQ(busy->frees_in, 10s);

  EXPECT_EQ(store_->release("a", id), store::ReleaseOutcome::released);
  EXPECT_GT(take(*other, "a", LeaseId::generate()), token);
}

TEST_F(SqliteStoreTest, ALeaseIsStillHeldAfterEveryStoreWasClosed) {
  const auto id = LeaseId::generate();
  const std::uint64_t token = take(*store_, "a", id);
  store_.reset();
  store_ = open();
  EXPECT_TRUE(is_held(*store_, "a"));
  EXPECT_EQ(take(*store_, "a", id), token);  // the same claim again: the same grant
  clock_.advance(10s);
  EXPECT_FALSE(is_held(*store_, "a"));
}

TEST_F(SqliteStoreTest, ABatchRenewsEachLeaseThatIsHeldSeveralOfOneNameIncluded) {
  std::vector<LeaseId> ids;
  for (int i = 0; i < 100; ++i) {
    auto claim = testing::claim_of(LeaseId::generate());
    claim.permits = store::Permits::of(1, 100);
    ids.push_back(claim.id);
    ASSERT_TRUE(store_->claim(i % 2 == 0 ? "even" : "odd", claim).has_value());
  }
  std::vector<store::Renewal> renewals;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    renewals.push_back({.name = i % 2 == 0 ? "even" : "odd", .id = ids[i], .ttl = 60s});
  }
  ASSERT_TRUE(store_->release("odd", ids[7]).has_value());
  clock_.advance(5s);
  const auto outcomes = store_->renew(renewals);
  ASSERT_TRUE(outcomes.has_value());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ((*outcomes)[i], i == 7 ? store::RenewOutcome::lost : store::RenewOutcome::renewed);
  }
  clock_.advance(59s);
  EXPECT_EQ((*store_->look("even"))->holders.size(), 50U);
  EXPECT_EQ((*store_->look("odd"))->holders.size(), 49U);
}

TEST_F(SqliteStoreTest, ADamagedRecordFailsItsOwnRenewalAndNoOthers) {
  std::vector<LeaseId> ids;
  std::vector<store::Renewal> renewals;
  for (const char* const name : {"a", "b", "c"}) {
    take(*store_, name, ids.emplace_back(LeaseId::generate()));
    renewals.push_back({.name = name, .id = ids.back(), .ttl = 60s});
  }
  testing::Stranger(folder_ / "locks.db")
      .run("UPDATE records SET leases = x'00' WHERE name = CAST('b' AS BLOB)");
  const auto outcomes = store_->renew(renewals);
  ASSERT_TRUE(outcomes.has_value()) << to_string(outcomes.error());
  EXPECT_EQ(*outcomes, (std::vector{store::RenewOutcome::renewed, store::RenewOutcome::failed,
                                    store::RenewOutcome::renewed}));
  clock_.advance(59s);
  EXPECT_TRUE(is_held(*store_, "a"));
  EXPECT_TRUE(is_held(*store_, "c"));
}

TEST_F(SqliteStoreTest, ListsByPrefixInByteOrderPageByPage) {
  const std::vector<std::string> names = {
      "a", std::string("a\0b", 3), "a\x7f", "a\xff", "a\xff\xff", "b", "\xff", "\xff\xff"};
  for (const std::string& name : names) {
    take(*store_, name, LeaseId::generate(), 60s);
  }
  take(*store_, "a-gone", LeaseId::generate(), 1s);
  testing::use(*store_, "a-released");
  ASSERT_TRUE(store_->hit("a-counts", {.limit = 5, .period = 60s}).has_value());
  clock_.advance(1s);

  const auto listed = [&](std::string_view prefix) {
    std::vector<std::string> found;
    store::PageRequest request{.limit = 2, .after = {}};
    do {
      const auto page = store_->list(prefix, request);
      EXPECT_TRUE(page.has_value());
      for (const auto& state : page->names) {
        found.emplace_back(state.name.view());
      }
      request.after = page->next;
    } while (!request.after.empty());
    return found;
  };
  EXPECT_EQ(listed(""), names);
  EXPECT_EQ(listed("a"), std::vector<std::string>(names.begin(), names.begin() + 5));
  EXPECT_EQ(listed("a\xff"), (std::vector<std::string>{"a\xff", "a\xff\xff"}));
  EXPECT_EQ(listed("\xff"), (std::vector<std::string>{"\xff", "\xff\xff"}));
  EXPECT_EQ(listed("c"), std::vector<std::string>());
}

TEST_F(SqliteStoreTest, AReleaseNotifiesEachWatchOnce) {
  int hints = 0;
  const auto watch = store_->watch("a", [&](const auto&) { ++hints; });
  ASSERT_TRUE(watch.has_value());
  testing::use(*store_, "a");
  EXPECT_EQ(hints, 1);
}

TEST_F(SqliteStoreTest, ARecordThatIsNotHoldfastsIsReportedAndLeftAsItIs) {
  check_spoilt("leases", "x'00'");
  check_spoilt("leases", "x'01'");
  check_spoilt("leases", "CAST('hello' AS BLOB)");
  check_spoilt("leases", "zeroblob(100)");
  check_spoilt("last_token", "-1");
  check_spoilt("last_token", "9223372036854775807");
  check_spoilt("capacity", "0");
  check_spoilt("capacity", "4294967296");
  check_spoilt("hits", "-1");
  take(*store_, "another name", LeaseId::generate());
}

TEST_F(SqliteStoreTest, AFileThatWasRemovedGrantsNothingAnyMore) {
  const auto id = LeaseId::generate();
  take(*store_, "a", id);
  std::filesystem::remove(folder_ / "locks.db");
  EXPECT_EQ(code_of_claim("b"), ErrorCode::unavailable);
  EXPECT_EQ(store_->look("a").error().code, ErrorCode::unavailable);
  EXPECT_EQ(store_->list("").error().code, ErrorCode::unavailable);
}

TEST_F(SqliteStoreTest, SaysWhatItPromises) {
  EXPECT_EQ(store_->capabilities(), (store::Capabilities{.engine = "sqlite",
                                                         .durable = true,
                                                         .push = true,
                                                         .cross_process = true,
                                                         .cross_machine = false,
                                                         .queues_claims = true}));
}

TEST_F(SqliteStoreTest, OptionsOutOfRangeAreRefused) {
  const auto code = [&](const SqliteOptions& options) { return open_store(options).error().code; };
  EXPECT_EQ(code({.file = ""}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.file = std::string("a\0b", 3)}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.file = folder_ / "x", .busy_timeout = 0s}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.file = folder_ / "x", .retention = -1s}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.file = folder_ / "x", .machine = {.clock = nullptr}}),
            ErrorCode::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
}

}  // namespace
}  // namespace holdfast::engines::sqlite
