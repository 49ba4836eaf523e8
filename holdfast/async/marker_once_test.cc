#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <gtest/gtest.h>

#include <holdfast/async/async_lock_provider.h>
#include <holdfast/async/degradable_provider.h>
#include <holdfast/async/marker.h>
#include <holdfast/async/once.h>
#include <holdfast/async/testing_support.h>
#include <holdfast/engines/disabled_store.h>
#include <holdfast/engines/memory/memory_store.h>

namespace holdfast::async {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using base::ErrorCode;
using engines::memory::MemoryStore;
using locks::AcquireOptions;
using recipes::ClearOutcome;
using recipes::OnceOutcome;
using recipes::Protection;
using recipes::WhenUnavailable;

// A memory store that is not immediate, so that requests to it go through the pool.
class PooledStore final : public store::LeaseStore {
 public:
  [[nodiscard]] store::Capabilities capabilities() const override { return {.engine = "pooled"}; }

 private:
  base::Result<store::ClaimOutcome> do_claim(const base::Name& name, const store::Claim& claim,
                                             base::Deadline deadline) override {
    return real_.claim(name.view(), claim, deadline);
  }
  base::Result<std::vector<store::RenewOutcome>> do_renew(std::span<const store::Renewal> renewals,
                                                          base::Deadline deadline) override {
    return real_.renew(renewals, deadline);
  }
  base::Result<store::TransferOutcome> do_transfer(const base::Name& name,
                                                   const base::LeaseId& from,
                                                   const store::Claim& to,
                                                   base::Deadline deadline) override {
    return real_.transfer(name.view(), from, to, deadline);
  }
  base::Result<store::ReleaseOutcome> do_release(const base::Name& name, const base::LeaseId& id,
                                                 base::Deadline deadline) override {
    return real_.release(name.view(), id, deadline);
  }
  base::Result<std::optional<store::NameState>> do_look(const base::Name& name,
                                                        base::Deadline deadline) override {
    return real_.look(name.view(), deadline);
  }
  base::Result<store::Page> do_list(std::string_view prefix, const store::PageRequest& page,
                                    base::Deadline deadline) override {
    return real_.list(prefix, page, deadline);
  }
  base::Result<store::HitOutcome> do_hit(const base::Name& name, const store::Hit& hit,
                                         base::Deadline deadline) override {
    return real_.hit(name.view(), hit, deadline);
  }
  base::Result<store::Watch> do_watch(const base::Name& name,
                                      store::WatchCallback callback) override {
    return real_.watch(name.view(), std::move(callback));
  }

  MemoryStore real_;
};

// Each test runs on a store that answers at once, and on one that is asked in the pool.
class AsyncMarkerAndOnce : public ::testing::TestWithParam<bool> {
 protected:
  template <class Coroutine>
  void run(Coroutine&& coroutine) {
    spawn(context_, std::forward<Coroutine>(coroutine));
    context_.restart();
    context_.run();
  }
  bool is_held(const std::string& name) const { return store_->look(name)->has_value(); }

  asio::io_context context_;
  std::shared_ptr<store::LeaseStore> store_ =
      GetParam() ? std::shared_ptr<store::LeaseStore>(std::make_shared<PooledStore>())
                 : std::make_shared<MemoryStore>();
  AsyncLockProvider provider_{store_};
};

TEST_P(AsyncMarkerAndOnce, OneOfTwoCallersMarksAndTheEndOfTheScopeClears) {
  AsyncMarker marker(provider_);
  run([&]() -> asio::awaitable<void> {
    {
      auto mine = co_await marker.try_mark("file", 1h);
      EXPECT_TRUE(mine && *mine && **mine);
      auto second = co_await marker.try_mark("file", 1h);
      EXPECT_TRUE(second && !*second);
      auto marked = co_await marker.is_marked("file");
      EXPECT_TRUE(marked && *marked);
      auto extended = co_await (*mine)->extend(2h);
      EXPECT_EQ(extended, store::RenewOutcome::renewed);
      auto left = co_await marker.time_left("file");
      EXPECT_TRUE(left && *left && **left > 1h);
    }
  });
  provider_.wait_for_background();
  EXPECT_FALSE(is_held("mark/file"));
}

TEST_P(AsyncMarkerAndOnce, AMarkThatHoldsNothingCanBeExtendedAndCleared) {
  AsyncLockProvider provider(std::make_shared<engines::DisabledStore>());
  AsyncMarker marker(provider,
                     {.when_unavailable = recipes::MarkWhenUnavailable::proceed_unmarked});
  run([&]() -> asio::awaitable<void> {
    auto mine = co_await marker.try_mark("file", 1h);
    EXPECT_TRUE(mine && *mine && !**mine);
    EXPECT_EQ(co_await (*mine)->extend(2h), store::RenewOutcome::lost);
    EXPECT_EQ(co_await (*mine)->clear(), ClearOutcome::was_not_marked);
  });
}

TEST_P(AsyncMarkerAndOnce, AMarkCanBeSetReplacedAndCleared) {
  AsyncMarker marker(provider_);
  run([&]() -> asio::awaitable<void> {
    auto set = co_await marker.mark("file", 1h);
    EXPECT_TRUE(set);
    auto replaced = co_await marker.mark("file", 1min);
    EXPECT_TRUE(replaced);
    auto left = co_await marker.time_left("file");
    EXPECT_TRUE(left && *left && **left <= 1min);
    auto cleared = co_await marker.clear("file");
    EXPECT_EQ(cleared, ClearOutcome::cleared);
    auto again = co_await marker.clear("file");
    EXPECT_EQ(again, ClearOutcome::was_not_marked);
    auto kept = co_await marker.try_mark("kept", 1h);
    (*kept)->keep();
    EXPECT_FALSE((*kept)->holds());
    auto mine = co_await marker.try_mark("mine", 1h);
    auto mine_cleared = co_await (*mine)->clear();
    EXPECT_EQ(mine_cleared, ClearOutcome::cleared);
    EXPECT_FALSE((*mine)->holds());
  });
  provider_.wait_for_background();
  EXPECT_TRUE(is_held("mark/kept"));
  EXPECT_FALSE(is_held("mark/mine"));
}

TEST_P(AsyncMarkerAndOnce, AMarkOfADroppedCoroutineIsCleared) {
  auto context = std::make_unique<asio::io_context>();
  AsyncMarker marker(provider_);
  bool is_marked = false;
  spawn(*context, [&]() -> asio::awaitable<void> {
    auto mine = co_await marker.try_mark("file", 1h);
    is_marked = mine && *mine;
    asio::steady_timer never(*context, asio::steady_timer::time_point::max());
    co_await never.async_wait(asio::use_awaitable);
  });
  while (!is_marked) {
    context->run_one();
  }
  context.reset();
  provider_.wait_for_background();
  EXPECT_FALSE(is_held("mark/file"));
}

TEST_P(AsyncMarkerAndOnce, WorkRunsOnceInAPeriod) {
  AsyncOnce once(provider_, {.period = 1h});
  int runs = 0;
  const AsyncOnce::Work work = [&](const AsyncLock& lock) -> asio::awaitable<void> {
    EXPECT_TRUE(lock.check());
    ++runs;
    co_return;
  };
  run([&]() -> asio::awaitable<void> {
    auto first = co_await once.run("report", work);
    EXPECT_EQ(first, OnceOutcome::ran);
    auto second = co_await once.run("report", work);
    EXPECT_EQ(second, OnceOutcome::skipped);
    auto empty = co_await once.run("", work);
    EXPECT_EQ(empty.error().code, ErrorCode::invalid_argument);
  });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(store_->look("once/report")->value().holders.at(0).reason, "has run in this period");
  EXPECT_EQ(provider_.held(), 0U);
}

TEST_P(AsyncMarkerAndOnce, WorkThatCouldNotBeDoneMayRunAgain) {
  AsyncOnce once(provider_, {.period = 1h});
  const AsyncOnce::Attempt not_now = [](const AsyncLock&) -> asio::awaitable<bool> {
    co_return false;
  };
  run([&]() -> asio::awaitable<void> {
    auto outcome = co_await once.attempt("report", not_now);
    EXPECT_EQ(outcome, OnceOutcome::not_done);
  });
  EXPECT_FALSE(is_held("once/report"));
}

TEST_P(AsyncMarkerAndOnce, WorkThatThrowsCountsAsRun) {
  AsyncOnce once(provider_, {.period = 1h});
  const AsyncOnce::Work broken = [](const AsyncLock&) -> asio::awaitable<void> {
    throw std::runtime_error("broken");
    co_return;
  };
  EXPECT_THROW(run([&]() -> asio::awaitable<void> {
                 auto outcome = co_await once.run("report", broken);
                 ADD_FAILURE() << "not thrown: " << outcome.has_value();
               }),
               std::runtime_error);
  EXPECT_EQ(store_->look("once/report")->value().holders.at(0).reason, "has run in this period");
}

INSTANTIATE_TEST_SUITE_P(AtOnceAndInThePool, AsyncMarkerAndOnce, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "pool" : "at_once"; });

class AsyncDegradation : public ::testing::Test {
 protected:
  template <class Coroutine>
  void run(Coroutine&& coroutine) {
    spawn(context_, std::forward<Coroutine>(coroutine));
    context_.restart();
    context_.run();
  }

  asio::io_context context_;
  const AcquireOptions impatient_{.wait = 0s};
};

TEST_F(AsyncDegradation, AnAvailableStoreGivesFullProtection) {
  const auto store = std::make_shared<MemoryStore>();
  AsyncDegradableProvider provider(store,
                                   {.when_unavailable = WhenUnavailable::fall_back_to_local});
  run([&]() -> asio::awaitable<void> {
    AsyncDegradableLock lock = co_await provider.acquire("report", impatient_);
    EXPECT_EQ(lock.protection(), Protection::full);
    EXPECT_TRUE(lock.token().has_value());
    EXPECT_TRUE(lock.check());
    auto second = co_await provider.try_acquire("report", impatient_);
    EXPECT_TRUE(second && !*second);
    auto released = co_await lock.release();
    EXPECT_EQ(released, store::ReleaseOutcome::released);
    EXPECT_FALSE(lock);
    {
      const AsyncDegradableLock again = co_await provider.acquire("report", impatient_);
      EXPECT_TRUE(again);
    }
  });
  provider.shared().wait_for_background();
  EXPECT_FALSE(store->look("report")->has_value());
}

TEST_F(AsyncDegradation, ADisabledStoreIsAnErrorUnlessThePolicySaysOtherwise) {
  const auto store = std::make_shared<engines::DisabledStore>();
  AsyncDegradableProvider strict(store);
  AsyncDegradableProvider local(store, {.when_unavailable = WhenUnavailable::fall_back_to_local});
  AsyncDegradableProvider careless(store,
                                   {.when_unavailable = WhenUnavailable::proceed_without_lock});
  run([&]() -> asio::awaitable<void> {
    auto refused = co_await strict.try_acquire("report", impatient_);
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
    EXPECT_NE(refused.error().message.find("switched off"), std::string::npos);

    auto here = co_await local.try_acquire("report", impatient_);
    EXPECT_TRUE(here && *here && (*here)->protection() == Protection::local_only);
    EXPECT_FALSE((*here)->token().has_value());
    auto busy = co_await local.try_acquire("report", impatient_);
    EXPECT_TRUE(busy && !*busy);

    auto anyway = co_await careless.try_acquire("report", impatient_);
    EXPECT_TRUE(anyway && *anyway && (*anyway)->protection() == Protection::none);
  });
}

TEST_F(AsyncDegradation, AWaiterOfTheLocalLockIsServedWhenItIsReleased) {
  const auto store = std::make_shared<engines::DisabledStore>();
  AsyncDegradableProvider provider(store,
                                   {.when_unavailable = WhenUnavailable::fall_back_to_local});
  const AcquireOptions patient{.wait = 1h};
  std::optional<AsyncDegradableLock> first;
  bool has_waited = false;
  run([&]() -> asio::awaitable<void> { first = co_await provider.acquire("report", patient); });
  spawn(context_, [&]() -> asio::awaitable<void> {
    const AsyncDegradableLock second = co_await provider.acquire("report", patient);
    EXPECT_EQ(second.protection(), Protection::local_only);
    has_waited = true;
  });
  context_.restart();
  context_.poll();
  EXPECT_FALSE(has_waited);
  first.reset();
  context_.run();
  EXPECT_TRUE(has_waited);
}

}  // namespace
}  // namespace holdfast::async
