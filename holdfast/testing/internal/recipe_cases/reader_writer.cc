#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/recipes/reader_writer_lock.h>
#include <holdfast/testing/internal/recipe_cases/recipe_cases.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::AcquireOptions;
using locks::Lock;
using recipes::ReaderWriterLock;

AcquireOptions waiting(std::stop_token stop = {}, base::Duration wait = 1h) {
  AcquireOptions options = ProviderRun::options();
  options.wait = wait;
  options.stop = std::move(stop);
  return options;
}

// A writer that waits for `doc` through its own provider, and has asked the store, so that it holds
// others back. Stops waiting at the end of its scope at the latest.
class WaitingWriter {
 public:
  explicit WaitingWriter(ProviderRun& run, base::Duration wait = 24h)
      : run_(run),
        provider_(run.another_provider()),
        outcome_(ProviderRun::in_background([this, wait] {
          return ReaderWriterLock(*provider_, "doc")
              .try_acquire_exclusive(waiting(stop_.get_token(), wait));
        })) {
    // The first waiter in the queue has asked the store before it waits there.
    EXPECT_TRUE(run_.soon([&] { return provider_->waiting() == 1; }));
    EXPECT_TRUE(
        is_busy(ReaderWriterLock(run_.provider(), "doc").try_acquire_shared(run_.options())));
  }
  WaitingWriter(const WaitingWriter&) = delete;
  WaitingWriter& operator=(const WaitingWriter&) = delete;
  ~WaitingWriter() { cancel(); }  // before waiting for the outcome

  void cancel() { stop_.request_stop(); }
  [[nodiscard]] ProviderRun::MaybeLock outcome() { return run_.result_of(outcome_); }

 private:
  ProviderRun& run_;
  const std::unique_ptr<locks::LockProvider> provider_;
  std::stop_source stop_;
  std::future<ProviderRun::MaybeLock> outcome_;
};

constexpr ProviderCase kCases[] = {
    {"ManyReadOrOneWrites",
     [](ProviderRun& run) {
       ReaderWriterLock doc(run.provider(), "doc");
       const auto other = run.another_provider();
       ReaderWriterLock same(*other, "doc");
       {
         const Lock one = doc.acquire_shared(run.options());
         const Lock two = same.acquire_shared(run.options());
         EXPECT_TRUE(is_busy(doc.try_acquire_exclusive(run.options())));
         EXPECT_TRUE(is_busy(same.try_acquire_exclusive(run.options())));
       }
       const Lock writer = same.acquire_exclusive(run.options());
       EXPECT_TRUE(is_busy(doc.try_acquire_shared(run.options())));
       EXPECT_TRUE(is_busy(doc.try_acquire_exclusive(run.options())));
     }},

    {"AWaitingWriterHoldsBackNewReadersAndIsServedNext",
     [](ProviderRun& run) {
       ReaderWriterLock doc(run.provider(), "doc");
       std::optional<Lock> reader = doc.acquire_shared(run.options());
       WaitingWriter writer(run);
       EXPECT_TRUE(is_busy(doc.try_acquire_shared(run.options())));
       EXPECT_TRUE(reader->check());
       reader.reset();
       const Lock written = must_have(writer.outcome());
       EXPECT_TRUE(written.check());
     }},

    {"AWriterGetsInAlthoughReadersComeAndGo",
     [](ProviderRun& run) {
       std::atomic<bool> done = false;
       std::atomic<int> reads = 0;
       std::vector<std::unique_ptr<locks::LockProvider>> providers;
       for (int i = 0; i < 2; ++i) {
         providers.push_back(run.another_provider());
       }
       std::vector<std::jthread> readers;
       for (int i = 0; i < 4; ++i) {
         readers.emplace_back([&, i] {
           ReaderWriterLock doc(*providers[static_cast<std::size_t>(i % 2)], "doc");
           while (!done) {
             // Overlapping: if they were not held back, there would always be a reader.
             auto mine = doc.try_acquire_shared(waiting());
             reads += mine && *mine ? 1 : 0;
             std::this_thread::sleep_for(2ms);
           }
         });
       }
       EXPECT_TRUE(run.soon([&] { return reads >= 8; }));
       ReaderWriterLock doc(run.provider(), "doc");
       const auto outcome =
           run.result_of_call([&] { return doc.try_acquire_exclusive(waiting()); });
       done = true;
       EXPECT_TRUE(outcome && *outcome);
     }},

    {"ACancelledWriterLetsReadersInAgain",
     [](ProviderRun& run) {
       ReaderWriterLock doc(run.provider(), "doc");
       const Lock reader = doc.acquire_shared(run.options());
       WaitingWriter writer(run);
       writer.cancel();
       EXPECT_EQ(error_of(writer.outcome()), ErrorCode::cancelled);
       EXPECT_FALSE(is_busy(doc.try_acquire_shared(run.options())));
     }},

    {"AWriterThatTimesOutLetsReadersInAgain",
     [](ProviderRun& run) {
       ReaderWriterLock doc(run.provider(), "doc");
       const Lock reader = doc.acquire_shared(run.options());
       WaitingWriter writer(run, run.ttl() * 3);
       EXPECT_TRUE(is_busy(writer.outcome()));
       // A writer whose time is over gives back its place in the background.
       EXPECT_TRUE(run.soon([&] { return !is_busy(doc.try_acquire_shared(run.options())); }));
     }},

    {"AReaderThatWaitsIsWokenWhenAWriterGivesUp",
     [](ProviderRun& run) {
       ReaderWriterLock doc(run.provider(), "doc");
       const Lock reader = doc.acquire_shared(run.options());
       WaitingWriter writer(run);
       auto waits = run.in_background([&] { return doc.try_acquire_shared(waiting()); });
       EXPECT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
       writer.cancel();
       EXPECT_EQ(error_of(writer.outcome()), ErrorCode::cancelled);
       EXPECT_TRUE(must_have(run.result_of(waits)).check());
     }},

    {"AWriterThatDiesWhileItWaitsLetsReadersInAgain",
     [](ProviderRun& run) {
       ReaderWriterLock doc(run.provider(), "doc");
       const Lock reader = doc.acquire_shared(run.options());
       const store::Claim dead{.id = base::LeaseId::generate(),
                               .owner = "the dead",
                               .reason = {},
                               .ttl = 1h,
                               .permits = store::Permits::writer(),
                               .holds_back = run.ttl()};
       ASSERT_TRUE(run.store().claim("doc", dead));
       EXPECT_TRUE(is_busy(doc.try_acquire_shared(run.options())));
       run.pass(run.ttl());
       EXPECT_FALSE(is_busy(doc.try_acquire_shared(run.options())));
     }},

    {"ATryToWriteHoldsNothingBack",
     [](ProviderRun& run) {
       ReaderWriterLock doc(run.provider(), "doc");
       const Lock reader = doc.acquire_shared(run.options());
       EXPECT_TRUE(is_busy(doc.try_acquire_exclusive(run.options())));
       EXPECT_FALSE(is_busy(doc.try_acquire_shared(run.options())));
     }},

    {"ADeadReadersLeaseExpiresAlthoughOthersRenew",
     [](ProviderRun& run) {
       ReaderWriterLock doc(run.provider(), "doc");
       const Lock alive = doc.acquire_shared(run.brief_options());
       const store::Claim dead{.id = base::LeaseId::generate(),
                               .owner = "the dead",
                               .reason = {},
                               .ttl = run.ttl(),
                               .permits = store::Permits::reader()};
       ASSERT_TRUE(run.store().claim("doc", dead));
       EXPECT_EQ(run.holders("doc").size(), 2U);
       EXPECT_TRUE(run.in_time([&] { return run.holders("doc").size() == 1; }));
       EXPECT_TRUE(alive.check());
     }},

    {"ADowngradeLetsReadersInButNoWriter",
     [](ProviderRun& run) {
       ReaderWriterLock doc(run.provider(), "doc");
       Lock lock = doc.acquire_exclusive(run.options());
       const base::FencingToken written = lock.token();
       const auto other = run.another_provider();
       ReaderWriterLock same(*other, "doc");
       EXPECT_TRUE(is_busy(same.try_acquire_shared(run.options())));
       ASSERT_TRUE(ReaderWriterLock::downgrade(lock));
       EXPECT_GT(lock.token(), written);
       EXPECT_TRUE(lock.check());
       const Lock reader = must_have(same.try_acquire_shared(run.options()));
       EXPECT_TRUE(is_busy(same.try_acquire_exclusive(run.options())));
       ASSERT_TRUE(ReaderWriterLock::downgrade(lock));  // a second time does nothing
       EXPECT_EQ(lock.release(), store::ReleaseOutcome::released);
       EXPECT_EQ(run.holders("doc").size(), 1U);
     }},

    {"ADowngradeIsNotHeldBackByAWriterThatWaits",
     [](ProviderRun& run) {
       ReaderWriterLock doc(run.provider(), "doc");
       Lock lock = doc.acquire_exclusive(run.options());
       WaitingWriter writer(run);
       ASSERT_TRUE(ReaderWriterLock::downgrade(lock));
       EXPECT_EQ(run.holders("doc").at(0).permits, 1U);
       EXPECT_EQ(lock.release(), store::ReleaseOutcome::released);
       EXPECT_TRUE(must_have(writer.outcome()).check());
     }},

    {"ADowngradedLockIsKept",
     [](ProviderRun& run) {
       ReaderWriterLock doc(run.provider(), "doc");
       Lock lock = doc.acquire_exclusive(run.brief_options());
       ASSERT_TRUE(ReaderWriterLock::downgrade(lock));
       run.keep_for("doc", run.ttl() * 2);
       EXPECT_TRUE(lock.check());
     }},

    {"ADowngradeOfALostLockIsAnError",
     [](ProviderRun& run) {
       ReaderWriterLock doc(run.provider(), "doc");
       Lock lock = doc.acquire_exclusive(run.options());
       ASSERT_EQ(run.store().release("doc", lock.id()), store::ReleaseOutcome::released);
       EXPECT_EQ(error_of(ReaderWriterLock::downgrade(lock)), ErrorCode::lost);
       EXPECT_TRUE(lock.lost().stop_requested());
     }},

    {"ADowngradeWhoseReplyWasLostIsDone",
     [](ProviderRun& run) {
       ReaderWriterLock doc(run.provider(), "doc");
       Lock lock = doc.acquire_exclusive(run.options());
       run.network().lose_reply(Operation::transfer);
       ASSERT_TRUE(ReaderWriterLock::downgrade(lock));
       EXPECT_EQ(run.holders("doc").at(0).token, lock.token());
       EXPECT_EQ(run.holders("doc").at(0).permits, 1U);
     }},

    {"ADowngradeWhoseReplyWasLostStaysUnknownDuringAnOutage",
     [](ProviderRun& run) {
       ReaderWriterLock doc(run.provider(), "doc");
       Lock lock = doc.acquire_exclusive(run.options());
       run.network().lose_reply(Operation::transfer);
       run.network().refuse(Operation::transfer, 2);
       EXPECT_EQ(error_of(ReaderWriterLock::downgrade(lock)), ErrorCode::unknown_outcome);
       ASSERT_TRUE(ReaderWriterLock::downgrade(lock));
       EXPECT_EQ(run.holders("doc").at(0).permits, 1U);
     }},

    {"APlainLockOfTheNameIsAConflict",
     [](ProviderRun& run) {
       ReaderWriterLock doc(run.provider(), "doc");
       const Lock plain = run.provider().acquire("doc", run.options());
       EXPECT_EQ(error_of(doc.try_acquire_shared(run.options())), ErrorCode::conflict);
       EXPECT_EQ(error_of(doc.try_acquire_exclusive(waiting())), ErrorCode::conflict);
     }},
};

}  // namespace

std::span<const ProviderCase> reader_writer_cases() { return kCases; }

}  // namespace holdfast::testing::internal
