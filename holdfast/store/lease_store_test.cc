#include <holdfast/store/lease_store.h>

#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;
using base::Deadline;
using base::ErrorCode;
using base::LeaseId;
using base::Name;
using base::Result;

// Counts what reaches the engine and remembers the last name.
class StubStore final : public LeaseStore {
 public:
  [[nodiscard]] Capabilities capabilities() const override { return {.engine = "stub"}; }

  int calls = 0;
  std::string name;
  Deadline deadline = Deadline::never();
  base::Duration period{};

 private:
  void note(std::string_view text, Deadline by = Deadline::never()) {
    ++calls;
    name = text;
    deadline = by;
  }
  Result<ClaimOutcome> do_claim(const Name& what, const Claim&, Deadline by) override {
    note(what.view(), by);
    return Grant{base::FencingToken(1), 1s};
  }
  Result<std::vector<RenewOutcome>> do_renew(std::span<const Renewal> renewals,
                                             Deadline by) override {
    note("", by);
    return std::vector(renewals.size(), RenewOutcome::renewed);
  }
  Result<TransferOutcome> do_transfer(const Name& what, const LeaseId&, const Claim&,
                                      Deadline by) override {
    note(what.view(), by);
    return Lost{};
  }
  Result<ReleaseOutcome> do_release(const Name& what, const LeaseId&, Deadline by) override {
    note(what.view(), by);
    return ReleaseOutcome::released;
  }
  Result<std::optional<NameState>> do_look(const Name& what, Deadline by) override {
    note(what.view(), by);
    return std::nullopt;
  }
  Result<Page> do_list(std::string_view prefix, const PageRequest&, Deadline by) override {
    note(prefix, by);
    return Page{};
  }
  Result<HitOutcome> do_hit(const Name& what, const Hit& hit, Deadline by) override {
    note(what.view(), by);
    period = hit.period.unchecked();
    return HitOutcome{};
  }
  Result<Watch> do_watch(const Name& what, WatchCallback) override {
    note(what.view());
    return Watch();
  }
};

class LeaseStoreArguments : public testing::Test {
 protected:
  static Claim wish(base::Ttl ttl = 1s, Permits permits = {}) {
    return {.id = LeaseId(1, 2), .owner = "me", .reason = "", .ttl = ttl, .permits = permits};
  }

  template <class T>
  void expect_rejected(const Result<T>& result, ErrorCode code = ErrorCode::invalid_argument) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, code) << result.error().message;
    EXPECT_FALSE(result.error().message.empty());
    EXPECT_EQ(store_.calls, 0);
  }

  template <class T>
  void expect_passed(const Result<T>& result, std::string_view name = "name") {
    EXPECT_TRUE(result) << result.error().message;
    EXPECT_EQ(store_.calls, 1);
    EXPECT_EQ(store_.name, name);
    store_.calls = 0;
  }

  StubStore store_;
};

TEST_F(LeaseStoreArguments, GoodOnesReachTheEngineWithTheirDeadline) {
  const Deadline by = Deadline::at(base::TimePoint(5s));
  const Renewal renewal{.name = "name", .id = LeaseId(1, 2), .ttl = 1s};
  expect_passed(store_.claim("name", wish(), by));
  EXPECT_EQ(store_.deadline, by);
  expect_passed(store_.renew({&renewal, 1}, by), "");
  EXPECT_EQ(store_.deadline, by);
  expect_passed(store_.transfer("name", LeaseId(3, 4), wish(), by));
  EXPECT_EQ(store_.deadline, by);
  expect_passed(store_.release("name", LeaseId(1, 2), by));
  EXPECT_EQ(store_.deadline, by);
  expect_passed(store_.look("name", by));
  EXPECT_EQ(store_.deadline, by);
  expect_passed(store_.list("name", {}, by));
  EXPECT_EQ(store_.deadline, by);
  expect_passed(store_.hit("name", {.limit = 1, .period = 1s}, by));
  EXPECT_EQ(store_.deadline, by);
  EXPECT_EQ(store_.period, 1s);
  expect_passed(store_.watch("name", [](const auto&) {}));
}

TEST_F(LeaseStoreArguments, EmptyAndOverlongNamesAreRejectedEverywhere) {
  for (const std::string& name : {std::string(), std::string(Name::kMaxSize + 1, 'x')}) {
    const Renewal renewal{.name = name, .id = LeaseId(1, 2), .ttl = 1s};
    expect_rejected(store_.claim(name, wish()));
    expect_rejected(store_.renew({&renewal, 1}));
    expect_rejected(store_.transfer(name, LeaseId(3, 4), wish()));
    expect_rejected(store_.release(name, LeaseId(1, 2)));
    expect_rejected(store_.look(name));
    expect_rejected(store_.hit(name, {.limit = 1, .period = 1s}));
    expect_rejected(store_.watch(name, [](const auto&) {}));
  }
}

TEST_F(LeaseStoreArguments, NamesMayBeAnyBytesUpToTheLongest) {
  const std::string longest(Name::kMaxSize, '\0');
  expect_passed(store_.claim(longest, wish()), longest);
}

TEST_F(LeaseStoreArguments, TtlsOutsideTheirBoundsAreRejected) {
  using Years = std::chrono::duration<double, std::ratio<31'556'952>>;
  const std::vector<base::Ttl> bad{
      0s,
      -1s,
      100ms - 1ns,
      std::chrono::hours(24 * 365) + 1ns,
      Years(1e9),
      std::chrono::hours::max(),
      std::chrono::nanoseconds::min(),
      std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())};
  for (const base::Ttl ttl : bad) {
    SCOPED_TRACE(ttl.unchecked().count());
    const Renewal renewal{.name = "name", .id = LeaseId(1, 2), .ttl = ttl};
    expect_rejected(store_.claim("name", wish(ttl)));
    expect_rejected(store_.renew({&renewal, 1}));
    expect_rejected(store_.transfer("name", LeaseId(3, 4), wish(ttl)));
    expect_rejected(store_.hit("name", {.limit = 1, .period = ttl}));
  }
  expect_passed(store_.claim("name", wish(LeaseStore::kMinTtl)));
  expect_passed(store_.claim("name", wish(LeaseStore::kMaxTtl)));
}

TEST_F(LeaseStoreArguments, AClaimNeedsAnIdAnOwnerAndTextsWithinBounds) {
  Claim claim = wish();
  claim.id = LeaseId();
  expect_rejected(store_.claim("name", claim));
  expect_rejected(store_.transfer("name", LeaseId(3, 4), claim));

  const std::string long_owner(Claim::kMaxOwner + 1, 'o');
  const std::string long_reason(Claim::kMaxReason + 1, 'r');
  claim = wish();
  claim.owner = "";
  expect_rejected(store_.claim("name", claim));
  claim.owner = long_owner;
  expect_rejected(store_.claim("name", claim));
  claim.owner = std::string_view(long_owner).substr(1);
  claim.reason = long_reason;
  expect_rejected(store_.claim("name", claim));
  claim.reason = std::string_view(long_reason).substr(1);
  expect_passed(store_.claim("name", claim));
}

TEST_F(LeaseStoreArguments, PermitsAreBetweenOneAndTheCapacity) {
  for (const Permits permits : {Permits{0, 0}, Permits{0, 1}, Permits{2, 1}, Permits{1, 0}}) {
    expect_rejected(store_.claim("name", wish(1s, permits)));
    expect_rejected(store_.transfer("name", LeaseId(3, 4), wish(1s, permits)));
  }
  for (const Permits permits : {Permits::mutex(), Permits::reader(), Permits::writer()}) {
    expect_passed(store_.claim("name", wish(1s, permits)));
  }
}

TEST_F(LeaseStoreArguments, OneBadRenewalRejectsTheBatch) {
  const std::vector<Renewal> batch{{.name = "name", .id = LeaseId(1, 2), .ttl = 1s},
                                   {.name = "", .id = LeaseId(1, 2), .ttl = 1s}};
  expect_rejected(store_.renew(batch));
  expect_passed(store_.renew(std::span(batch).first(1)), "");
}

TEST_F(LeaseStoreArguments, ABatchHasABound) {
  const std::vector<Renewal> batch(100'001, {.name = "name", .id = LeaseId(1, 2), .ttl = 1s});
  expect_rejected(store_.renew(batch), ErrorCode::limit_exceeded);
}

TEST_F(LeaseStoreArguments, AClaimHoldsBackForAtMostTheLongestTtl) {
  for (const base::Duration time : {base::Duration(-1), LeaseStore::kMaxTtl + 1ns}) {
    Claim claim = wish();
    claim.holds_back = time;
    expect_rejected(store_.claim("name", claim));
    expect_rejected(store_.transfer("name", LeaseId(3, 4), claim));
  }
  Claim claim = wish();
  claim.holds_back = LeaseStore::kMaxTtl;
  expect_passed(store_.claim("name", claim));
}

TEST_F(LeaseStoreArguments, PagesAndPrefixesHaveBounds) {
  PageRequest page;
  page.limit = 0;
  expect_rejected(store_.list("", page));
  page.limit = 1001;
  expect_rejected(store_.list("", page));
  page.limit = 1000;
  expect_rejected(store_.list(std::string(Name::kMaxSize + 1, 'x'), page));
  expect_passed(store_.list("", page), "");
}

TEST_F(LeaseStoreArguments, HitsNeedALimitAndWatchesACallback) {
  expect_rejected(store_.hit("name", {.limit = 0, .period = 1s}));
  expect_rejected(store_.hit("name", {.limit = 2, .period = 1s, .count = 3}));
  expect_passed(store_.hit("name", {.limit = 2, .period = 1s, .count = 2}));
  expect_passed(store_.hit("name", {.limit = 2, .period = 1s, .count = 0}));
  expect_rejected(store_.watch("name", nullptr));
}

}  // namespace
}  // namespace holdfast::store
