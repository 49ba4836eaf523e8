#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <holdfast/async/async_lock_provider.h>
#include <holdfast/async/degradable_provider.h>
#include <holdfast/async/leader_election.h>
#include <holdfast/async/multi_lock.h>
#include <holdfast/async/reader_writer_lock.h>
#include <holdfast/async/semaphore.h>
#include <holdfast/async/testing_support.h>
#include <holdfast/async/throttle.h>
#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/recipes/throttle.h>

namespace holdfast::async {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using base::ErrorCode;
using base::Result;
using engines::memory::MemoryStore;
using locks::AcquireOptions;

class AsyncRecipes : public ::testing::Test {
 protected:
  // Runs all work that is ready.
  void settle() {
    context_.restart();
    while (context_.poll() > 0) {
    }
  }

  asio::io_context context_;
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  AsyncLockProvider provider_{store_};
  const AcquireOptions patient_{.wait = 1h};
  const AcquireOptions impatient_{.wait = 0s};
};

TEST_F(AsyncRecipes, ManyReadOneWritesAndAWaitingWriterHoldsNewReadersBack) {
  AsyncReaderWriterLock doc(provider_, "doc");
  std::vector<std::string> seen;
  std::optional<AsyncLock> reading;
  spawn(context_, [&]() -> asio::awaitable<void> {
    reading = co_await doc.acquire_shared(patient_);
    const AsyncLock also = co_await doc.acquire_shared(patient_);
    EXPECT_TRUE(also.check());
  });
  settle();
  spawn(context_, [&]() -> asio::awaitable<void> {
    AsyncLock writing = co_await doc.acquire_exclusive(patient_);
    seen.emplace_back("writer");
    EXPECT_TRUE(co_await AsyncReaderWriterLock::downgrade(writing));
    const auto other = co_await doc.try_acquire_shared(impatient_);
    EXPECT_TRUE(other && *other);
  });
  settle();
  spawn(context_, [&]() -> asio::awaitable<void> {
    const auto held_back = co_await doc.try_acquire_shared(impatient_);
    EXPECT_TRUE(held_back && !*held_back);
    const auto busy = co_await doc.try_acquire_exclusive(impatient_);
    EXPECT_TRUE(busy && !*busy);
    reading.reset();
  });
  context_.restart();
  context_.run();
  EXPECT_EQ(seen, std::vector<std::string>{"writer"});
  EXPECT_EQ(provider_.held(), 0U);
}

TEST_F(AsyncRecipes, ASemaphoreReachesItsCapacityAndNeverExceedsIt) {
  AsyncSemaphore pool(provider_, "pool", 3);
  int inside = 0;
  int most = 0;
  int served = 0;
  for (int i = 0; i < 50; ++i) {
    spawn(context_, [&]() -> asio::awaitable<void> {
      AsyncLock lock = co_await pool.acquire(1, patient_);
      most = std::max(most, ++inside);
      co_await asio::post(context_, asio::use_awaitable);
      --inside;
      ++served;
      co_await lock.release();
    });
  }
  context_.run();
  EXPECT_EQ(most, 3);
  EXPECT_EQ(served, 50);
  spawn(context_, [&]() -> asio::awaitable<void> {
    AsyncLock all = co_await pool.drain(patient_);
    EXPECT_EQ(co_await pool.available(), 0U);
    EXPECT_TRUE(co_await all.reduce(1));
    EXPECT_EQ(co_await pool.available(), 2U);
  });
  context_.restart();
  context_.run();
  EXPECT_THROW(AsyncSemaphore(provider_, "pool", 0), base::Exception);
}

TEST_F(AsyncRecipes, ATimeOutNamesTheNameThatWasMissingAndItsHolder) {
  AsyncDegradableProvider degradable(store_);
  std::vector<std::string> messages;
  spawn(context_, [&]() -> asio::awaitable<void> {
    const AcquireOptions as_root{.owner = "root@web1:811"};
    const AsyncLock held = co_await provider_.acquire("b", as_root);
    try {
      const AsyncMultiLock both = co_await acquire_all(provider_, {"a", "b"}, impatient_);
    } catch (const base::Exception& late) {
      messages.emplace_back(late.what());
    }
    try {
      const AsyncDegradableLock lock = co_await degradable.acquire("b", impatient_);
    } catch (const base::Exception& late) {
      messages.emplace_back(late.what());
    }
  });
  context_.run();
  const std::string expected =
      "timed_out: b was not free within the wait: it is held by root@web1:811";
  EXPECT_EQ(messages, (std::vector{expected, expected}));
  provider_.wait_for_background();
  EXPECT_EQ(provider_.held(), 0U) << "all or none";
}

TEST_F(AsyncRecipes, WithoutANumberOrOptionsASemaphoreIsAcquiredForOnePermit) {
  AsyncSemaphore pool(provider_, "pool", 3);
  AsyncReaderWriterLock doc(provider_, "doc");
  spawn(context_, [&]() -> asio::awaitable<void> {
    AsyncLock one = co_await pool.acquire();
    auto two = co_await pool.try_acquire(patient_);
    EXPECT_EQ(co_await pool.available(), 1U);
    EXPECT_TRUE(two && *two && (*two)->permits().count == 1);
    co_await one.release();
    two->reset();
    const AsyncLock all = co_await pool.drain();
    EXPECT_EQ(all.permits().count, 3U);
    AsyncLock writer = co_await doc.acquire_exclusive();
    co_await writer.release();
    const AsyncLock reading = co_await doc.acquire_shared();
    const auto writing = co_await doc.try_acquire_exclusive();
    EXPECT_TRUE(writing && !*writing);
    const auto also_reading = co_await doc.try_acquire_shared();
    EXPECT_TRUE(also_reading && *also_reading);
  });
  context_.run();
}

TEST_F(AsyncRecipes, OppositeOrdersOfNamesNeverDeadlock) {
  int done = 0;
  for (int i = 0; i < 40; ++i) {
    std::vector<std::string> names = {"anna", "bert", "cleo", "anna"};
    if (i % 2 == 0) {
      std::ranges::reverse(names);
    }
    spawn(context_, [&, names]() -> asio::awaitable<void> {
      AsyncMultiLock all = co_await acquire_all(provider_, names, patient_);
      EXPECT_EQ(all.locks().size(), 3U);
      EXPECT_TRUE(all.check());
      EXPECT_EQ(co_await all.release(), store::ReleaseOutcome::released);
      ++done;
    });
  }
  context_.run();
  EXPECT_EQ(done, 40);
  EXPECT_EQ(provider_.held(), 0U);
}

TEST_F(AsyncRecipes, NamesThatCannotAllBeAcquiredAreReleased) {
  const locks::Lock held = provider_.blocking().acquire("bert");
  spawn(context_, [&]() -> asio::awaitable<void> {
    const std::vector<std::string> names = {"anna", "bert"};
    const auto busy = co_await try_acquire_all(provider_, names, impatient_);
    EXPECT_TRUE(busy && !*busy);
    const std::vector<std::string> none;
    const auto empty = co_await try_acquire_all(provider_, none, impatient_);
    EXPECT_EQ(empty.error().code, ErrorCode::invalid_argument);
  });
  context_.run();
  EXPECT_EQ(provider_.held(), 1U);
}

TEST_F(AsyncRecipes, ACancelledWaitForSeveralNamesReleasesThoseItHas) {
  const locks::Lock held = provider_.blocking().acquire("bert");
  asio::cancellation_signal cancel;
  const std::vector<std::string> names = {"anna", "bert"};
  std::exception_ptr end;
  asio::co_spawn(context_, acquire_all(provider_, names, patient_),
                 asio::bind_cancellation_slot(cancel.slot(), [&](const std::exception_ptr& error,
                                                                 const AsyncMultiLock& all) {
                   end = error;
                   EXPECT_FALSE(all);
                 }));
  settle();
  EXPECT_EQ(provider_.held(), 2U);
  cancel.emit(asio::cancellation_type::terminal);
  context_.run();
  EXPECT_TRUE(end);
  EXPECT_EQ(provider_.held(), 1U);
}

TEST_F(AsyncRecipes, AThrottleSharesItsLimitWithTheThrottlesOfThreads) {
  base::ManualClock clock;
  const auto store = std::make_shared<MemoryStore>(
      engines::memory::MemoryOptions{.clock = &clock, .sweep_every = {}});
  const recipes::ThrottleOptions options{.limit = 3, .period = 1min, .clock = &clock};
  AsyncThrottle calls(store, options);
  recipes::Throttle threads(store, options);
  EXPECT_EQ(threads.try_pass("api"), true);
  std::vector<bool> passed;
  bool waited = false;
  spawn(context_, [&]() -> asio::awaitable<void> {
    for (int i = 0; i < 3; ++i) {
      passed.push_back(*co_await calls.try_pass("api"));
    }
    const auto state = co_await calls.state("api");
    EXPECT_EQ(state->hits, 3U);
    // It is sure that it cannot pass within the wait.
    EXPECT_EQ(co_await calls.pass("api", 1s), false);
    EXPECT_EQ((co_await calls.pass("api", 1s, {}, 0)).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ((co_await calls.try_pass("")).error().code, ErrorCode::invalid_argument);
    waited = *co_await calls.pass("api", 10min);
  });
  settle();
  EXPECT_EQ(passed, (std::vector{true, true, false}));
  EXPECT_FALSE(waited);
  clock.wait_for_sleepers(1);
  clock.advance(2min);
  context_.restart();
  context_.run();
  EXPECT_TRUE(waited);
}

TEST_F(AsyncRecipes, AThrottleOfAProviderUsesItsStoreAndItsThreads) {
  AsyncThrottle calls(provider_, {.limit = 2, .period = 1h});
  recipes::Throttle threads(provider_.blocking(), {.limit = 2, .period = 1h});
  EXPECT_EQ(threads.try_pass("api"), true);
  std::vector<bool> passed;
  spawn(context_, [&]() -> asio::awaitable<void> {
    passed.push_back(*co_await calls.try_pass("api"));
    passed.push_back(*co_await calls.try_pass("api"));
  });
  settle();
  EXPECT_EQ(passed, (std::vector{true, false}));
  EXPECT_THROW(AsyncThrottle(provider_, {.limit = 0}), base::Exception);
}

TEST_F(AsyncRecipes, AWaitForAThrottleIsCancelledByEither) {
  AsyncThrottle calls(provider_, {.limit = 1, .period = 1h});
  std::stop_source stop;
  asio::cancellation_signal signal;
  std::vector<ErrorCode> ends;
  const auto note = [&](const Result<bool>& passed) { ends.push_back(passed.error().code); };
  spawn(context_, [&]() -> asio::awaitable<void> { (void)co_await calls.try_pass("api"); });
  settle();
  calls.pass("api", 24h, stop.get_token(), 1, asio::bind_executor(context_, note));
  calls.pass("api", 24h, {}, 1,
             asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(context_, note)));
  settle();
  EXPECT_TRUE(ends.empty());
  stop.request_stop();
  signal.emit(asio::cancellation_type::terminal);
  context_.restart();
  context_.run();
  EXPECT_EQ(ends, (std::vector{ErrorCode::cancelled, ErrorCode::cancelled}));
}

TEST_F(AsyncRecipes, CandidatesLeadOneAtATimeWithGrowingTokens) {
  AsyncLeaderElection election(provider_, "scheduler");
  std::stop_source stop;
  int leading = 0;
  std::vector<std::uint64_t> tokens;
  const AsyncLeaderElection::Work work = [&](recipes::Term term) -> asio::awaitable<void> {
    EXPECT_EQ(++leading, 1);
    tokens.push_back(term.token.value());
    co_await asio::post(context_, asio::use_awaitable);
    const auto leader = co_await election.leader();
    EXPECT_EQ((*leader)->token, term.token);
    if (tokens.size() == 20) {
      stop.request_stop();
      EXPECT_TRUE(term.over.stop_requested());
    }
    --leading;
  };
  int ended = 0;
  for (const std::string owner : {"anna", "bert", "cleo"}) {
    AcquireOptions candidate{.stop = stop.get_token(), .owner = owner};
    spawn(context_, [&, candidate]() -> asio::awaitable<void> {
      EXPECT_TRUE(co_await election.lead(work, candidate));
      ++ended;
    });
  }
  context_.run();
  EXPECT_EQ(ended, 3);
  EXPECT_GE(tokens.size(), 20U);
  EXPECT_TRUE(std::ranges::is_sorted(tokens));
}

TEST_F(AsyncRecipes, AnExceptionOfTheWorkEndsItsTermAndIsPassedOn) {
  AsyncLeaderElection election(provider_, "scheduler");
  const AsyncLeaderElection::Work work = [](recipes::Term) -> asio::awaitable<void> {
    throw std::runtime_error("no");
    co_return;
  };
  spawn(context_, [&]() -> asio::awaitable<void> { (void)co_await election.lead(work, patient_); });
  EXPECT_THROW(context_.run(), std::runtime_error);
  EXPECT_EQ(provider_.held(), 0U);
}

TEST_F(AsyncRecipes, AChangeOfLeadersIsSeen) {
  AsyncLeaderElection election(provider_, "scheduler");
  std::vector<std::optional<base::FencingToken>> seen;
  std::optional<AsyncLock> term;
  spawn(context_, [&]() -> asio::awaitable<void> {
    std::optional<base::FencingToken> known;
    for (int i = 0; i < 2; ++i) {
      const auto leader = co_await election.wait_for_change(known, 1h);
      known = *leader ? std::optional((*leader)->token) : std::nullopt;
      seen.push_back(known);
      term.reset();
    }
  });
  settle();
  EXPECT_TRUE(seen.empty());
  spawn(context_, [&]() -> asio::awaitable<void> {
    auto elected = co_await election.campaign(patient_);
    term = **std::move(elected);
  });
  context_.restart();
  context_.run();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_TRUE(seen[0]);
  EXPECT_FALSE(seen[1]);
}

}  // namespace
}  // namespace holdfast::async
