#include <tests/support/differential.h>

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <sstream>
#include <thread>
#include <utility>

#include <holdfast/store/lease_rules.h>

namespace holdfast::tests {

namespace {

namespace rules = store::lease_rules;
using base::Result;
using std::chrono::microseconds;
using store::Claim;
using store::Instant;
using store::Permits;
using store::Record;

constexpr int kHistories = 4;

// One random history, twice.
class History {
 public:
  History(const Restatement& engine, std::uint64_t seed)
      : engine_(engine),
        prefix_("history" + std::to_string(seed) + ":"),
        store_(engine.open(prefix_, [this] { return now_; })),
        random_(seed) {}

  // Returns why the two differ; empty if they do not.
  std::string step() {
    name_ = any_name();
    said_.str("");
    switch (pick(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: return claim();
      case 5:
      case 6: return renew();
      case 7:
      case 8: return transfer();
      case 9:
      case 10: return release();
      case 11:
      case 12: return hit();
      case 13: return look();
      default: return advance();
    }
  }

 private:
  static constexpr std::array<Permits, 7> kPermits{
      Permits::mutex(),  Permits::mutex(),  Permits::mutex(), Permits::of(1, 3),
      Permits::of(2, 3), Permits::reader(), Permits::writer()};

  std::size_t pick(std::size_t count) { return random_() % count; }
  std::string_view any_name() { return engine_.names[pick(engine_.names.size())]; }
  base::LeaseId id() { return {7, 1 + pick(6)}; }
  base::Duration time() { return whole(microseconds(100'000 + pick(20) * 100'001)); }
  // Counted as by the server's clock.
  [[nodiscard]] microseconds whole(microseconds time) const { return time - time % engine_.grain; }
  Record& record() { return records_[std::string(name_)]; }
  [[nodiscard]] Instant instant() const {
    return {.time = base::TimePoint(now_), .token_floor = static_cast<std::uint64_t>(now_.count())};
  }
  Claim any_claim() {
    const Claim claim{.id = id(),
                      .owner = pick(2) == 0 ? "one" : std::string_view("t\0 2", 4),
                      .reason = pick(2) == 0 ? "" : "why",
                      .ttl = time(),
                      .permits = kPermits[pick(kPermits.size())],
                      .holds_back = pick(2) == 0 ? base::Duration::zero() : time()};
    said_ << " id " << claim.id.low() << " ttl " << claim.ttl.unchecked().count() << " permits "
          << claim.permits.count << " of " << claim.permits.capacity << " holds back "
          << claim.holds_back.count();
    return claim;
  }

  template <class T>
  std::string compare(const char* what, const Result<T>& actual, const Result<T>& expected) {
    const bool same = actual && expected
                          ? *actual == *expected
                          : !actual && !expected && actual.error() == expected.error();
    if (same) {
      return "";
    }
    const auto outcome = [](const Result<T>& result) {
      return result ? std::string("a value") : base::to_string(result.error());
    };
    return std::string(what) + " of " + std::string(name_) + said_.str() + ": the server says " +
           outcome(actual) + ", the rules " + outcome(expected);
  }

  std::string claim() {
    const Claim wish = any_claim();
    return compare("claim", store_->claim(name_, wish), rules::claim(record(), wish, instant()));
  }

  std::string renew() {
    std::vector<store::Renewal> batch;
    Result<std::vector<store::RenewOutcome>> expected;
    for (std::size_t left = 1 + pick(3); left > 0; --left) {
      name_ = any_name();
      batch.push_back({.name = name_, .id = id(), .ttl = time()});
      expected->push_back(
          rules::renew(record(), batch.back().id, batch.back().ttl.unchecked(), instant()));
    }
    return compare("renew", store_->renew(batch), expected);
  }

  std::string transfer() {
    const base::LeaseId from = id();
    const Claim to = any_claim();
    return compare("transfer", store_->transfer(name_, from, to),
                   rules::transfer(record(), from, to, instant()));
  }

  std::string release() {
    const base::LeaseId which = id();
    return compare("release", store_->release(name_, which),
                   Result<store::ReleaseOutcome>(rules::release(record(), which, instant())));
  }

  std::string hit() {
    const std::uint32_t limit = pick(3) == 0 ? 300 : static_cast<std::uint32_t>(2 + pick(3));
    store::Hit hit{.limit = limit,
                   .period = time(),
                   .window = pick(2) == 0 ? store::Window::fixed : store::Window::sliding,
                   .count = static_cast<std::uint32_t>(pick(3))};
    if (pick(8) == 0) {
      hit.limit = hit.count = 0;  // to forget
    }
    said_ << " limit " << hit.limit << " count " << hit.count << " period "
          << hit.period.unchecked().count()
          << (hit.window == store::Window::fixed ? " fixed" : " sliding");
    return compare("hit", store_->hit(name_, hit), rules::hit(record(), hit, instant()));
  }

  std::string look() {
    return compare("look", store_->look(name_),
                   Result<std::optional<store::NameState>>(
                       rules::look(*base::Name::make(name_), record(), instant())));
  }

  // Sometimes the server has forgotten what has ended, and sometimes not yet.
  std::string advance() {
    now_ += whole(std::chrono::duration_cast<microseconds>(time() / 4));
    for (const std::string_view name : engine_.names) {
      name_ = name;
      if (pick(2) == 0 && rules::is_tombstone(record(), instant())) {
        engine_.forget(prefix_, name);
      }
    }
    return "";
  }

  const Restatement& engine_;
  const std::string prefix_;
  microseconds now_ = std::chrono::duration_cast<microseconds>(std::chrono::hours(24 * 365 * 50));
  const std::unique_ptr<store::LeaseStore> store_;
  std::mt19937_64 random_;
  std::map<std::string, Record> records_;
  std::string_view name_;
  std::ostringstream said_;
};

}  // namespace

std::vector<std::string> differences(const Restatement& engine, int operations) {
  std::array<std::string, kHistories> found;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kHistories; ++i) {
      threads.emplace_back([&engine, &difference = found[i], operations, seed = i + 1] {
        History history(engine, seed);
        for (int step = 0; step < operations / kHistories && difference.empty(); ++step) {
          if (std::string here = history.step(); !here.empty()) {
            difference = "seed " + std::to_string(seed) + ", step " + std::to_string(step) + ": " +
                         std::move(here);
          }
        }
      });
    }
  }
  std::vector<std::string> all;
  for (std::string& difference : found) {
    if (!difference.empty()) {
      all.push_back(std::move(difference));
    }
  }
  return all;
}

}  // namespace holdfast::tests
