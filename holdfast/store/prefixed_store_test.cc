#include <holdfast/store/prefixed_store.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/store/async_lease_store.h>

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;
using base::Deadline;
using base::ErrorCode;
using base::LeaseId;
using base::Name;
using base::Result;
using engines::memory::MemoryStore;

Claim claim_of(std::uint64_t id) {
  return {.id = LeaseId(1, id), .owner = "me", .reason = "", .ttl = 10s};
}

bool is_granted(const Result<ClaimOutcome>& outcome) {
  return outcome && std::holds_alternative<Grant>(*outcome);
}

class PrefixedStore : public testing::Test {
 protected:
  static std::shared_ptr<LeaseStore> below(const std::shared_ptr<LeaseStore>& store,
                                           std::string_view prefix) {
    return base::value_or_throw(with_prefix(store, prefix));
  }

  const std::shared_ptr<LeaseStore> plain = std::make_shared<MemoryStore>();
  const std::shared_ptr<LeaseStore> billing = below(plain, "billing/");
};

TEST_F(PrefixedStore, ANameIsKeptWithThePrefixAndShownWithoutIt) {
  ASSERT_TRUE(is_granted(billing->claim("report", claim_of(1))));

  EXPECT_TRUE(*plain->look("billing/report"));
  EXPECT_FALSE(*plain->look("report"));
  const auto seen = billing->look("report");
  ASSERT_TRUE(seen && *seen);
  EXPECT_EQ((*seen)->name.view(), "report");
}

TEST_F(PrefixedStore, TwoPrefixesDoNotExcludeEachOther) {
  const auto shipping = below(plain, "shipping/");

  EXPECT_TRUE(is_granted(billing->claim("report", claim_of(1))));
  EXPECT_TRUE(is_granted(shipping->claim("report", claim_of(2))));
  EXPECT_FALSE(is_granted(billing->claim("report", claim_of(3))));
}

TEST_F(PrefixedStore, AListingShowsOnlyNamesBelowThePrefixOnEveryPage) {
  ASSERT_TRUE(is_granted(plain->claim("billing/", claim_of(1))));
  ASSERT_TRUE(is_granted(plain->claim("elsewhere", claim_of(2))));
  for (const char* name : {"a1", "a2", "a3", "b1"}) {
    ASSERT_TRUE(is_granted(billing->claim(name, claim_of(3))));
  }

  const auto list = [&](std::string_view prefix) {
    std::vector<std::string> names;
    PageRequest request{.limit = 2};
    do {
      const Page page = base::value_or_throw(billing->list(prefix, request));
      for (const NameState& state : page.names) names.emplace_back(state.name.view());
      request.after = page.next;
    } while (!request.after.empty());
    return names;
  };
  EXPECT_EQ(list("a"), (std::vector<std::string>{"a1", "a2", "a3"}));
  EXPECT_EQ(list(""), (std::vector<std::string>{"a1", "a2", "a3", "b1"}));
}

TEST_F(PrefixedStore, RenewTransferAndReleaseReachTheSameLease) {
  ASSERT_TRUE(is_granted(billing->claim("a", claim_of(1))));
  ASSERT_TRUE(is_granted(billing->claim("b", claim_of(2))));

  const std::vector<Renewal> renewals = {
      {"a", LeaseId(1, 1), 10s}, {"b", LeaseId(1, 2), 10s}, {"c", LeaseId(1, 3), 10s}};
  EXPECT_EQ(billing->renew(renewals),
            (std::vector{RenewOutcome::renewed, RenewOutcome::renewed, RenewOutcome::lost}));
  const auto transferred = billing->transfer("a", LeaseId(1, 1), claim_of(4));
  EXPECT_TRUE(transferred && std::holds_alternative<Grant>(*transferred));
  EXPECT_EQ(billing->release("a", LeaseId(1, 4)), ReleaseOutcome::released);
  EXPECT_EQ(billing->release("b", LeaseId(1, 2)), ReleaseOutcome::released);
}

TEST_F(PrefixedStore, HitsAreCountedBelowThePrefix) {
  const Hit hit{.limit = 1, .period = 10s};

  EXPECT_TRUE(billing->hit("api", hit)->allowed);
  EXPECT_FALSE(billing->hit("api", hit)->allowed);
  EXPECT_FALSE(plain->hit("billing/api", hit)->allowed);
  EXPECT_TRUE(plain->hit("api", hit)->allowed);
}

TEST_F(PrefixedStore, AReleaseNotifiesTheWatcher) {
  int hints = 0;
  const auto watch = billing->watch("report", [&](const Notice&) { ++hints; });
  ASSERT_TRUE(watch);
  ASSERT_TRUE(is_granted(plain->claim("billing/report", claim_of(1))));
  ASSERT_EQ(plain->release("billing/report", LeaseId(1, 1)), ReleaseOutcome::released);

  EXPECT_EQ(hints, 1);
}

TEST_F(PrefixedStore, ANameThatIsTooLongWithThePrefixIsInvalid) {
  const std::string longest(Name::kMaxSize - std::string_view("billing/").size(), 'n');

  EXPECT_TRUE(is_granted(billing->claim(longest, claim_of(1))));
  const auto refused = billing->claim(longest + "n", claim_of(2));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

TEST_F(PrefixedStore, AnEmptyPrefixIsTheStoreItselfAndATooLongOneIsInvalid) {
  EXPECT_EQ(below(plain, ""), plain);
  EXPECT_EQ(with_prefix(plain, std::string(Name::kMaxSize, 'p')).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(with_prefix(nullptr, "p").error().code, ErrorCode::invalid_argument);
}

// A store that answers without blocking from a store in memory.
class AnsweringStore final : public LeaseStore, private AsyncLeaseStore {
 public:
  [[nodiscard]] Capabilities capabilities() const override { return real_.capabilities(); }
  [[nodiscard]] AsyncLeaseStore* async() noexcept override { return this; }

 private:
  Result<ClaimOutcome> do_claim(const Name& name, const Claim& claim, Deadline) override {
    return real_.claim(name.view(), claim);
  }
  Result<std::vector<RenewOutcome>> do_renew(std::span<const Renewal> renewals, Deadline) override {
    return real_.renew(renewals);
  }
  Result<TransferOutcome> do_transfer(const Name& name, const LeaseId& from, const Claim& to,
                                      Deadline) override {
    return real_.transfer(name.view(), from, to);
  }
  Result<ReleaseOutcome> do_release(const Name& name, const LeaseId& id, Deadline) override {
    return real_.release(name.view(), id);
  }
  Result<std::optional<NameState>> do_look(const Name& name, Deadline) override {
    return real_.look(name.view());
  }
  Result<Page> do_list(std::string_view prefix, const PageRequest& page, Deadline) override {
    return real_.list(prefix, page);
  }
  Result<HitOutcome> do_hit(const Name& name, const Hit& hit, Deadline) override {
    return real_.hit(name.view(), hit);
  }
  Result<Watch> do_watch(const Name& name, WatchCallback callback) override {
    return real_.watch(name.view(), std::move(callback));
  }

  void start_claim(const Name& name, const Claim& claim, Deadline,
                   Callback<ClaimOutcome> callback) override {
    callback(real_.claim(name.view(), claim));
  }
  void start_transfer(const Name& name, const LeaseId& from, const Claim& to, Deadline,
                      Callback<TransferOutcome> callback) override {
    callback(real_.transfer(name.view(), from, to));
  }
  void start_release(const Name& name, const LeaseId& id, Deadline,
                     Callback<ReleaseOutcome> callback) override {
    callback(real_.release(name.view(), id));
  }
  void start_look(const Name& name, Deadline,
                  Callback<std::optional<NameState>> callback) override {
    callback(real_.look(name.view()));
  }
  void start_hit(const Name& name, const Hit& hit, Deadline,
                 Callback<HitOutcome> callback) override {
    callback(real_.hit(name.view(), hit));
  }

  MemoryStore real_;
};

TEST_F(PrefixedStore, RequestsThatDoNotBlockHaveThePrefixToo) {
  EXPECT_EQ(billing->async(), nullptr);

  const std::shared_ptr<LeaseStore> real = std::make_shared<AnsweringStore>();
  const auto view = below(real, "billing/");
  AsyncLeaseStore* const async = view->async();
  ASSERT_NE(async, nullptr);

  bool granted = false;
  async->claim("report", claim_of(1), Deadline::never(),
               [&](const Result<ClaimOutcome>& outcome) { granted = is_granted(outcome); });
  EXPECT_TRUE(granted);
  EXPECT_TRUE(*real->look("billing/report"));

  std::string seen;
  async->look("report", Deadline::never(),
              [&](const Result<std::optional<NameState>>& state) { seen = (*state)->name.view(); });
  EXPECT_EQ(seen, "report");

  bool moved = false;
  async->transfer("report", LeaseId(1, 1), claim_of(2), Deadline::never(),
                  [&](const Result<TransferOutcome>& outcome) {
                    moved = std::holds_alternative<Grant>(*outcome);
                  });
  EXPECT_TRUE(moved);

  ReleaseOutcome released = ReleaseOutcome::not_held;
  async->release("report", LeaseId(1, 2), Deadline::never(),
                 [&](const Result<ReleaseOutcome>& outcome) { released = *outcome; });
  EXPECT_EQ(released, ReleaseOutcome::released);

  async->hit("api", {.limit = 1, .period = 10s}, Deadline::never(), [](const auto&) {});
  EXPECT_FALSE(real->hit("billing/api", {.limit = 1, .period = 10s})->allowed);
}

}  // namespace
}  // namespace holdfast::store
