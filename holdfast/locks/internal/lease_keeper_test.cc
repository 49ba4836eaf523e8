#include <holdfast/locks/internal/lease_keeper.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/patience.h>

#include <holdfast/base/manual_clock.h>

namespace holdfast::locks::internal {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using base::Result;
using store::RenewOutcome;
using tests::eventually;

constexpr base::Duration kTtl = 30s;

// Renews everything. A request blocks while the store is stalled, and does not heed its deadline.
class RenewingStore final : public store::LeaseStore {
 public:
  void stall() {
    const std::lock_guard guard(mutex_);
    is_stalled_ = true;
  }
  void go_on() {
    {
      const std::lock_guard guard(mutex_);
      is_stalled_ = false;
    }
    changed_.notify_all();
  }
  // From now on every request fails.
  void fail() { is_failing_ = true; }
  // From now on every request ends with an exception.
  void throw_exceptions() { is_throwing_ = true; }
  void recover() { is_failing_ = is_throwing_ = false; }

  std::size_t requests() const { return requests_; }
  std::size_t renewed() const { return renewed_; }
  base::Duration last_patience() const { return base::Duration(last_patience_); }

  [[nodiscard]] store::Capabilities capabilities() const override { return {}; }

 private:
  Result<std::vector<RenewOutcome>> do_renew(std::span<const store::Renewal> renewals,
                                             base::Deadline deadline) override {
    last_patience_ = deadline.remaining(base::steady_clock().now()).count();
    ++requests_;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !is_stalled_; });
    if (is_throwing_) {
      throw std::runtime_error("on purpose");
    }
    if (is_failing_) {
      return base::fail(ErrorCode::unavailable, "the store is down");
    }
    renewed_ += renewals.size();
    return std::vector(renewals.size(), RenewOutcome::renewed);
  }
  static std::unexpected<base::Error> nothing() {
    return base::fail(ErrorCode::unsupported, "renews only");
  }
  Result<store::ClaimOutcome> do_claim(const base::Name& /*name*/, const store::Claim& /*claim*/,
                                       base::Deadline /*deadline*/) override {
    return nothing();
  }
  Result<store::TransferOutcome> do_transfer(const base::Name& /*name*/,
                                             const base::LeaseId& /*from*/,
                                             const store::Claim& /*to*/,
                                             base::Deadline /*deadline*/) override {
    return nothing();
  }
  Result<store::ReleaseOutcome> do_release(const base::Name& /*name*/, const base::LeaseId& /*id*/,
                                           base::Deadline /*deadline*/) override {
    return nothing();
  }
  Result<std::optional<store::NameState>> do_look(const base::Name& /*name*/,
                                                  base::Deadline /*deadline*/) override {
    return nothing();
  }
  Result<store::Page> do_list(std::string_view /*prefix*/, const store::PageRequest& /*page*/,
                              base::Deadline /*deadline*/) override {
    return nothing();
  }
  Result<store::HitOutcome> do_hit(const base::Name& /*name*/, const store::Hit& /*hit*/,
                                   base::Deadline /*deadline*/) override {
    return nothing();
  }
  Result<store::Watch> do_watch(const base::Name& /*name*/,
                                store::WatchCallback /*callback*/) override {
    return nothing();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stalled_ = false;  // protected by mutex_
  std::atomic<bool> is_failing_ = false;
  std::atomic<bool> is_throwing_ = false;
  std::atomic<std::size_t> requests_ = 0;
  std::atomic<std::size_t> renewed_ = 0;
  std::atomic<base::Duration::rep> last_patience_ = 0;
};

class LeaseKeeperTest : public ::testing::Test {
 protected:
  ~LeaseKeeperTest() override { store_.go_on(); }

  std::shared_ptr<Hold> keep(const std::string& name, base::Duration ttl = kTtl) {
    return keep(name, ttl, ttl / 3);
  }
  std::shared_ptr<Hold> keep(const std::string& name, base::Duration ttl, base::Duration every) {
    const store::Claim claim{
        .id = base::LeaseId::generate(), .owner = "me", .reason = "", .ttl = ttl};
    auto hold = std::make_shared<Hold>(nullptr, clock_, name, claim, base::FencingToken(1),
                                       RenewalSchedule(clock_.now(), ttl, every, std::nullopt),
                                       OnDestroy::release, 0);
    EXPECT_TRUE(keeper_.add(hold));
    return hold;
  }
  // Both threads sleep until a time that has not come.
  void wait_until_idle() { clock_.wait_for_sleepers(2); }
  static bool is_lost(const Hold& hold) { return hold.status() == Hold::Status::lost; }

  base::ManualClock clock_;
  RenewingStore store_;
  std::mutex mutex_;
  std::vector<std::pair<base::LogLevel, std::string>> log_;  // protected by mutex_
  const base::Logger logger_{[this](base::LogLevel level, std::string_view text) {
    const std::lock_guard guard(mutex_);
    log_.emplace_back(level, text);
  }};
  std::atomic<std::size_t> lost_ = 0;
  const Metrics metrics_{
      .count = [this](std::string_view what, std::string_view name, std::uint64_t by) {
        lost_ += what == "lost" && !name.empty() ? by : 0;
      }};
  LeaseKeeper keeper_{store_, clock_, logger_, metrics_};
};

TEST_F(LeaseKeeperTest, LostFiresAtTheDeadlineWhileARenewalIsBlockedInTheStore) {
  const auto hold = keep("job");
  store_.stall();
  wait_until_idle();
  clock_.advance(kTtl / 3);
  ASSERT_TRUE(eventually([&] { return store_.requests() == 1; }));
  clock_.set(hold->valid_until() - 1ns);
  EXPECT_FALSE(is_lost(*hold));
  clock_.set(hold->valid_until());
  EXPECT_TRUE(eventually([&] { return is_lost(*hold); }));
  EXPECT_EQ(keeper_.size(), 0U);
}

TEST_F(LeaseKeeperTest, ALeaseThatIsAddedDuringABlockedRenewalIsLostAtItsDeadline) {
  const auto first = keep("first");
  store_.stall();
  wait_until_idle();
  clock_.advance(kTtl / 3);
  ASSERT_TRUE(eventually([&] { return store_.requests() == 1; }));
  const auto second = keep("second", 100ms);
  clock_.set(second->valid_until());
  EXPECT_TRUE(eventually([&] { return is_lost(*second); }));
  EXPECT_FALSE(is_lost(*first));
}

TEST_F(LeaseKeeperTest, AnAnswerThatComesAfterTheDeadlineDoesNotBringTheLeaseBack) {
  const auto hold = keep("job");
  store_.stall();
  wait_until_idle();
  clock_.advance(kTtl / 3);
  ASSERT_TRUE(eventually([&] { return store_.requests() == 1; }));
  clock_.set(hold->valid_until());
  ASSERT_TRUE(eventually([&] { return is_lost(*hold); }));
  store_.go_on();
  ASSERT_TRUE(eventually([&] { return store_.renewed() == 1; }));
  wait_until_idle();
  EXPECT_FALSE(hold->check());
  EXPECT_EQ(lost_, 1U);
}

TEST_F(LeaseKeeperTest, StoppingLosesEveryLeaseBeforeItWaitsForTheStore) {
  const auto hold = keep("job");
  store_.stall();
  wait_until_idle();
  clock_.advance(kTtl / 3);
  ASSERT_TRUE(eventually([&] { return store_.requests() == 1; }));
  const std::jthread stopping([&] { keeper_.stop(); });
  EXPECT_TRUE(eventually([&] { return is_lost(*hold); }));
  store_.go_on();
}

TEST_F(LeaseKeeperTest, ARoundCostsNothingForLeasesThatAreNotDue) {
  constexpr std::uint64_t kDue = 10;
  constexpr std::uint64_t kRounds = 12;
  std::vector<std::shared_ptr<Hold>> holds;
  for (int i = 0; i < 20'000; ++i) {
    holds.push_back(keep("idle " + std::to_string(i), 24h));
  }
  for (std::uint64_t i = 0; i < kDue; ++i) {
    holds.push_back(keep("busy " + std::to_string(i)));
  }
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    wait_until_idle();
    clock_.advance(kTtl / 3);
    ASSERT_TRUE(eventually([&] { return store_.renewed() == round * kDue; }));
  }
  wait_until_idle();
  // Once for its renewal, and now and then for its deadline.
  EXPECT_LE(keeper_.visits(), 2 * kRounds * kDue);
  EXPECT_EQ(store_.requests(), kRounds);
}

TEST_F(LeaseKeeperTest, ARequestLeavesTimeForAnotherBeforeItsLeasesEnd) {
  const auto hold = keep("job", 1500ms);
  wait_until_idle();
  clock_.advance(500ms);
  ASSERT_TRUE(eventually([&] { return store_.renewed() == 1; }));
  EXPECT_LE(store_.last_patience(), 500ms);
}

TEST_F(LeaseKeeperTest, ARequestLeavesTimeForALeaseThatIsShorterThanItsOwn) {
  const auto due = keep("due", 1h, 500ms);
  const auto brief = keep("brief", 1s, 900ms);
  wait_until_idle();
  clock_.advance(500ms);
  ASSERT_TRUE(eventually([&] { return store_.renewed() == 1; }));
  EXPECT_LE(store_.last_patience(), 500ms);
}

TEST_F(LeaseKeeperTest, AnOutageIsOneWarningAndItsEndIsSaid) {
  const auto hold = keep("job");
  store_.fail();
  for (std::size_t attempt = 1; attempt <= 3; ++attempt) {
    wait_until_idle();
    clock_.set(hold->schedule.renew_at());
    ASSERT_TRUE(eventually([&] { return store_.requests() == attempt; }));
  }
  store_.recover();
  wait_until_idle();
  clock_.set(hold->schedule.renew_at());
  ASSERT_TRUE(eventually([&] { return store_.renewed() == 1; }));
  keeper_.stop();
  const std::lock_guard guard(mutex_);
  std::vector<base::LogLevel> levels;
  for (const auto& [level, text] : log_) levels.push_back(level);
  using enum base::LogLevel;
  EXPECT_EQ(levels, (std::vector{warning, debug, debug, info}));
  EXPECT_TRUE(log_.front().second.starts_with("could not renew 1 lease, will try again: "))
      << log_.front().second;
}

TEST_F(LeaseKeeperTest, AfterAnExceptionOfTheStoreALeaseIsRenewedByTheNextRequest) {
  const auto hold = keep("job");
  store_.throw_exceptions();
  wait_until_idle();
  clock_.advance(kTtl / 3);
  ASSERT_TRUE(eventually([&] { return store_.requests() == 1; }));
  wait_until_idle();
  store_.recover();
  clock_.set(hold->schedule.renew_at());
  EXPECT_TRUE(eventually([&] { return store_.renewed() == 1; }));
  EXPECT_FALSE(is_lost(*hold));
}

TEST_F(LeaseKeeperTest, TheLogSaysWhyALeaseWasLost) {
  const auto hold = keep("job");
  store_.fail();
  wait_until_idle();
  clock_.advance(kTtl / 3);
  ASSERT_TRUE(eventually([&] { return store_.requests() == 1; }));
  wait_until_idle();
  clock_.set(hold->valid_until());
  ASSERT_TRUE(eventually([&] { return is_lost(*hold); }));
  keeper_.stop();
  const std::lock_guard guard(mutex_);
  ASSERT_FALSE(log_.empty());
  EXPECT_EQ(log_.back().second,
            "lost the lease on job: it could not be renewed in time: "
            "unavailable: the store is down");
}

}  // namespace
}  // namespace holdfast::locks::internal
