#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/store/lease_rules.h>
#include <holdfast/testing/internal/patience.h>
#include <holdfast/testing/internal/store_run.h>

namespace holdfast::testing::internal {

namespace {

namespace rules = store::lease_rules;
using base::Result;
using store::Claim;
using store::Grant;
using store::Instant;
using store::Permits;
using store::Record;

// Applies the same operations to a store and to records under LeaseRules, and compares every
// answer. Few names, ids and ttls, so that requests collide.
//
// A store mints tokens from its own clock, so the records take the store's token as the least that
// they may mint: they differ if it was not greater than the one before.
class RandomHistory {
 public:
  RandomHistory(StoreRun& run, std::uint64_t seed)
      : place_(run.place()), handles_{run.open(), run.open()}, random_(seed) {}

  void step() {
    store_ = handles_[pick(handles_.size())].get();
    name_ = kNames[pick(kNames.size())];
    switch (pick(16)) {
      case 0:
      case 1:
      case 2:
      case 3: return claim();
      case 4:
      case 5: return renew();
      case 6:
      case 7: return transfer();
      case 8:
      case 9: return release();
      case 10: return hit();
      case 11: return look();
      case 12: return list();
      case 13: return clean_up();
      default: return advance();
    }
  }

  // The request of the last step.
  [[nodiscard]] std::string last_step() const { return step_.str(); }

 private:
  static constexpr std::array<std::string_view, 4> kNames{"a", "A", "b:{}", "b"};
  static constexpr std::array<Permits, 6> kPermits{Permits::mutex(),  Permits::mutex(),
                                                   Permits::of(1, 3), Permits::of(2, 3),
                                                   Permits::reader(), Permits::writer()};

  std::size_t pick(std::size_t count) { return random_() % count; }
  base::LeaseId id() { return {7, 1 + pick(6)}; }
  base::Duration time() { return std::chrono::milliseconds(100 * (1 + pick(20))); }
  Claim any_claim() {
    return {.id = id(),
            .owner = pick(2) == 0 ? "one" : "two",
            .reason = pick(2) == 0 ? "" : "why",
            .ttl = time(),
            .permits = kPermits[pick(kPermits.size())],
            .holds_back = pick(2) == 0 ? base::Duration::zero() : time()};
  }
  Record& record() { return records_[std::string(name_)]; }
  [[nodiscard]] Instant now(const Grant* grant = nullptr) const {
    return {.time = now_, .token_floor = grant != nullptr ? grant->token.value() : 1};
  }
  template <class Variant>
  static const Grant* grant_in(const Result<Variant>& outcome) {
    return outcome ? std::get_if<Grant>(&*outcome) : nullptr;
  }

  template <class... Words>
  void say(const Words&... words) {
    step_.str("");
    step_ << name_;
    ((step_ << ' ' << words), ...);
  }
  static std::string text(const Claim& claim) {
    return std::to_string(claim.id.low()) + " for " +
           std::to_string(claim.ttl.unchecked().count() / 1'000'000) + " ms, " +
           std::to_string(claim.permits.count) + " of " + std::to_string(claim.permits.capacity);
  }

  // Compares only the code of an error: each engine has its own message.
  template <class T>
  static void expect_same(const Result<T>& actual, const Result<T>& expected) {
    ASSERT_EQ(error_of(actual), error_of(expected));
    if (actual && expected) {
      EXPECT_TRUE(*actual == *expected);
    }
  }

  void claim() {
    const Claim request = any_claim();
    say("claim", text(request));
    const auto actual = store_->claim(name_, request);
    expect_same(actual, rules::claim(record(), request, now(grant_in(actual))));
  }

  void renew() {
    say("renew a batch");
    std::vector<store::Renewal> batch;
    Result<std::vector<store::RenewOutcome>> expected;
    for (std::size_t i = 0; i <= pick(3); ++i) {
      name_ = kNames[pick(kNames.size())];
      batch.push_back({.name = name_, .id = id(), .ttl = time()});
      const store::Renewal& last = batch.back();
      expected->push_back(rules::renew(record(), last.id, last.ttl.unchecked(), now()));
    }
    expect_same(store_->renew(batch), expected);
  }

  void transfer() {
    const Claim to = any_claim();
    const base::LeaseId from = id();
    say("transfer", from.low(), "to", text(to));
    const auto actual = store_->transfer(name_, from, to);
    expect_same(actual, rules::transfer(record(), from, to, now(grant_in(actual))));
  }

  void release() {
    const base::LeaseId which = id();
    say("release", which.low());
    expect_same(store_->release(name_, which),
                Result<store::ReleaseOutcome>(rules::release(record(), which, now())));
  }

  void hit() {
    const std::uint32_t limit = pick(4) == 0 ? 300 : static_cast<std::uint32_t>(2 + pick(3));
    const store::Hit hit{.limit = limit,
                         .period = time(),
                         .window = pick(2) == 0 ? store::Window::fixed : store::Window::sliding,
                         .count = static_cast<std::uint32_t>(pick(3))};
    say("hit", limit, "count", hit.count, hit.window == store::Window::fixed ? "fixed" : "sliding");
    expect_same(store_->hit(name_, hit), rules::hit(record(), hit, now()));
  }

  void look() {
    say("look");
    expect_same(store_->look(name_), Result<std::optional<store::NameState>>(
                                         rules::look(*base::Name::make(name_), record(), now())));
  }

  void list() {
    say("list");
    Result<std::vector<store::NameState>> expected;
    for (const auto& [name, each] : records_) {
      if (auto state = rules::look(*base::Name::make(name), each, now())) {
        expected->push_back(*std::move(state));
      }
    }
    Result<std::vector<store::NameState>> actual;
    store::PageRequest request{.limit = 1 + pick(3), .after = {}};
    do {
      const store::Page page = base::value_or_throw(store_->list("", request));
      actual->insert(actual->end(), page.names.begin(), page.names.end());
      request.after = page.next;
    } while (!request.after.empty());
    expect_same(actual, expected);
  }

  void clean_up() {
    say("clean up");
    if (place_.clean_up) {
      place_.clean_up();
    }
  }

  void advance() {
    const base::Duration by = time() / 4;
    say("advance");
    place_.advance(by);
    now_ += by;
  }

  const Place& place_;
  const std::array<std::shared_ptr<store::LeaseStore>, 2> handles_;
  std::mt19937_64 random_;
  std::map<std::string, Record> records_;
  base::TimePoint now_{};
  store::LeaseStore* store_ = nullptr;
  std::string_view name_;
  std::ostringstream step_;
};

constexpr StoreCase kCases[] = {
    {"RandomHistoriesAgreeWithTheRules",
     [](StoreRun& run) {
       if (!run.clock_moves()) {
         GTEST_SKIP() << "the engine's clock cannot be moved";
       }
       constexpr int kSeeds = 4;
       for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
         StoreRun fresh(run.engine());
         RandomHistory history(fresh, seed);
         for (int i = 0; i < scaled(run.engine().random_operations) / kSeeds; ++i) {
           history.step();
           ASSERT_FALSE(::testing::Test::HasFailure())
               << "seed " << seed << ", step " << i << ": " << history.last_step();
         }
       }
     }},
};

}  // namespace

std::span<const StoreCase> random_history_cases() { return kCases; }

}  // namespace holdfast::testing::internal
