#include <holdfast/recipes/internal/guarded_store.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/patience.h>

#include <holdfast/recipes/degradable_provider.h>

namespace holdfast::recipes::internal {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using base::Result;

// Fails every claim with one code, or throws; one name is busy instead.
class FailingStore final : public store::LeaseStore {
 public:
  static constexpr std::string_view kBusyName = "busy";

  void fail_with(std::optional<ErrorCode> code) { code_ = code; }
  // Returns how often the busy name was claimed.
  [[nodiscard]] int busy() const { return busy_; }

  [[nodiscard]] store::Capabilities capabilities() const override { return {}; }

 private:
  Result<store::ClaimOutcome> do_claim(const base::Name& name, const store::Claim& /*claim*/,
                                       base::Deadline /*deadline*/) override {
    if (name.view() == kBusyName) {
      ++busy_;
      return store::Busy{.holders = {}, .frees_in = 1h};
    }
    if (!code_) throw std::runtime_error("a defect");
    return base::fail(*code_, "the server is down");
  }
  static std::unexpected<base::Error> nothing() {
    return base::fail(ErrorCode::unsupported, "claims only");
  }
  Result<std::vector<store::RenewOutcome>> do_renew(std::span<const store::Renewal> /*renewals*/,
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
    return store::ReleaseOutcome::not_held;
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
    return store::Watch();
  }

  std::optional<ErrorCode> code_ = ErrorCode::unavailable;
  std::atomic<int> busy_ = 0;
};

class GuardedStoreTest : public ::testing::Test {
 protected:
  // Asks for a lease ten times; an exception ends the attempt only.
  void claim_often() {
    for (int i = 0; i < 10; ++i) {
      try {
        (void)guarded_.claim("job", claim_);
      } catch (const std::runtime_error&) {
        ++thrown_;
      }
    }
  }

  const store::Claim claim_{
      .id = base::LeaseId::generate(), .owner = "me", .reason = "", .ttl = 30s};
  const std::shared_ptr<FailingStore> real_ = std::make_shared<FailingStore>();
  const std::shared_ptr<Circuit> circuit_ =
      std::make_shared<Circuit>(Breaker::Limits{.failures = 3, .retry_after = 1h},
                                base::steady_clock(), base::Logger(), locks::Metrics());
  GuardedStore guarded_{real_, circuit_, 1s};
  int thrown_ = 0;
};

TEST_F(GuardedStoreTest, AnUnreachableStoreOpensTheCircuit) {
  for (const ErrorCode code : {ErrorCode::unavailable, ErrorCode::unknown_outcome}) {
    circuit_->on_answer();
    real_->fail_with(code);
    claim_often();
    EXPECT_EQ(circuit_->state(), CircuitState::open) << base::to_string(code);
  }
}

TEST_F(GuardedStoreTest, NoOtherErrorOpensTheCircuit) {
  for (const ErrorCode code :
       {ErrorCode::limit_exceeded, ErrorCode::unsupported, ErrorCode::conflict, ErrorCode::corrupt,
        ErrorCode::invalid_argument, ErrorCode::internal}) {
    real_->fail_with(code);
    claim_often();
    EXPECT_EQ(circuit_->state(), CircuitState::closed) << base::to_string(code);
  }
}

TEST_F(GuardedStoreTest, AnExceptionDoesNotOpenTheCircuit) {
  real_->fail_with(std::nullopt);
  claim_often();
  EXPECT_EQ(thrown_, 10);
  EXPECT_EQ(circuit_->state(), CircuitState::closed);
}

TEST(DegradableLock, MayBeCheckedWhileAnotherThreadReleasesIt) {
  DegradableProvider provider(std::make_shared<FailingStore>(),
                              {.when_unavailable = WhenUnavailable::proceed_without_lock});
  DegradableLock lock = provider.acquire("job");
  ASSERT_EQ(lock.protection(), Protection::none);
  std::thread checks([&] {
    while (lock.check()) {
    }
  });
  (void)lock.release();
  checks.join();
  EXPECT_EQ(lock.check().error().code, ErrorCode::not_held);
}

TEST(DegradedWait, TheLogNamesTheOutageThatEndedAWait) {
  std::mutex mutex;
  std::string log;  // protected by mutex
  DegradationOptions options{.when_unavailable = WhenUnavailable::proceed_without_lock};
  options.retry_after = 1h;
  options.provider.poll_least = options.provider.poll_most = 1h;
  options.provider.logger = base::Logger([&](base::LogLevel /*level*/, std::string_view text) {
    const std::lock_guard guard(mutex);
    log += text;
    log += '\n';
  });
  const auto store = std::make_shared<FailingStore>();
  DegradableProvider provider(store, options);
  std::thread waiter(
      [&] { EXPECT_EQ(provider.acquire(FailingStore::kBusyName).protection(), Protection::none); });
  // It claims once more when it is in the queue, and then waits: other calls find the store
  // unavailable.
  EXPECT_TRUE(tests::eventually([&] { return store->busy() == 2; }));
  EXPECT_TRUE(tests::eventually([&] {
    static_cast<void>(provider.try_acquire("other"));
    return provider.state() == CircuitState::open;
  }));
  waiter.join();
  EXPECT_EQ(store->busy(), 2) << "the outage was found by others";
  const std::lock_guard guard(mutex);
  EXPECT_NE(log.find("proceeding without a lock on busy: unavailable: the server is down"),
            std::string::npos)
      << log;
}

}  // namespace
}  // namespace holdfast::recipes::internal
