#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/recipe_cases/recipe_cases.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::AcquireOptions;

AcquireOptions waiting(std::stop_token stop = {}, base::Duration wait = 1h) {
  AcquireOptions options = LockRun::options();
  options.wait = wait;
  options.stop = std::move(stop);
  return options;
}

// A writer that waits for `doc` through its own provider, and has asked the store, so that it holds
// others back. Stops waiting at the end of its scope at the latest.
class WaitingWriter {
 public:
  explicit WaitingWriter(LockRun& run, base::Duration wait = 24h)
      : run_(run), provider_(run.another_provider()), outcome_(LockRun::in_background([this, wait] {
          return provider_->recipes().reader_writer("doc")->try_acquire_exclusive(
              waiting(stop_.get_token(), wait));
        })) {
    EXPECT_TRUE(run_.soon([&] { return provider_->waiting() == 1; }));
    // It may be in the local queue before the store has answered it.
    EXPECT_TRUE(run_.soon([&] {
      return is_busy(run_.recipes().reader_writer("doc")->try_acquire_shared(run_.options()));
    }));
  }
  WaitingWriter(const WaitingWriter&) = delete;
  WaitingWriter& operator=(const WaitingWriter&) = delete;
  ~WaitingWriter() { cancel(); }  // before waiting for the outcome

  void cancel() { stop_.request_stop(); }
  [[nodiscard]] MaybeLockFace outcome() { return run_.result_of(outcome_); }

 private:
  LockRun& run_;
  const std::unique_ptr<ProviderUnderTest> provider_;
  std::stop_source stop_;
  std::future<MaybeLockFace> outcome_;
};

constexpr LockCase kCases[] = {
    {"ManyReadOrOneWrites",
     [](LockRun& run) {
       const auto doc = run.recipes().reader_writer("doc");
       const auto other = run.another_provider();
       const auto same = other->recipes().reader_writer("doc");
       {
         const auto one = doc->acquire_shared(run.options());
         const auto two = same->acquire_shared(run.options());
         EXPECT_TRUE(is_busy(doc->try_acquire_exclusive(run.options())));
         EXPECT_TRUE(is_busy(same->try_acquire_exclusive(run.options())));
       }
       const auto writer = same->acquire_exclusive(run.options());
       EXPECT_TRUE(is_busy(doc->try_acquire_shared(run.options())));
       EXPECT_TRUE(is_busy(doc->try_acquire_exclusive(run.options())));
     }},

    {"AWaitingWriterHoldsBackNewReadersAndIsServedNext",
     [](LockRun& run) {
       const auto doc = run.recipes().reader_writer("doc");
       auto reader = doc->acquire_shared(run.options());
       WaitingWriter writer(run);
       EXPECT_TRUE(is_busy(doc->try_acquire_shared(run.options())));
       EXPECT_TRUE(reader->check());
       reader.reset();
       const auto written = must_have(writer.outcome());
       EXPECT_TRUE(written->check());
     }},

    {"AWriterGetsInAlthoughReadersComeAndGo",
     [](LockRun& run) {
       std::atomic<bool> done = false;
       std::atomic<int> reads = 0;
       std::vector<std::unique_ptr<ProviderUnderTest>> providers;
       for (int i = 0; i < 2; ++i) {
         providers.push_back(run.another_provider());
       }
       std::vector<std::jthread> readers;
       for (int i = 0; i < 4; ++i) {
         readers.emplace_back([&, i] {
           const auto doc =
               providers[static_cast<std::size_t>(i % 2)]->recipes().reader_writer("doc");
           while (!done) {
             // Overlapping: if they were not held back, there would always be a reader.
             auto mine = doc->try_acquire_shared(waiting());
             reads += mine && *mine ? 1 : 0;
             std::this_thread::sleep_for(2ms);
           }
         });
       }
       EXPECT_TRUE(run.soon([&] { return reads >= 8; }));
       const auto doc = run.recipes().reader_writer("doc");
       const auto outcome =
           run.result_of_call([&] { return doc->try_acquire_exclusive(waiting()); });
       done = true;
       EXPECT_TRUE(outcome && *outcome);
     }},

    {"ACancelledWriterLetsReadersInAgain",
     [](LockRun& run) {
       const auto doc = run.recipes().reader_writer("doc");
       const auto reader = doc->acquire_shared(run.options());
       WaitingWriter writer(run);
       writer.cancel();
       EXPECT_EQ(error_of(writer.outcome()), ErrorCode::cancelled);
       EXPECT_FALSE(is_busy(doc->try_acquire_shared(run.options())));
     }},

    {"AWriterThatTimesOutLetsReadersInAgain",
     [](LockRun& run) {
       const auto doc = run.recipes().reader_writer("doc");
       const auto reader = doc->acquire_shared(run.options());
       WaitingWriter writer(run, run.ttl() * 3);
       EXPECT_TRUE(is_busy(writer.outcome()));
       // A writer whose wait is over leaves the queue in the background.
       EXPECT_TRUE(run.soon([&] { return !is_busy(doc->try_acquire_shared(run.options())); }));
     }},

    {"AReaderThatWaitsIsWokenWhenAWriterGivesUp",
     [](LockRun& run) {
       const auto doc = run.recipes().reader_writer("doc");
       const auto reader = doc->acquire_shared(run.options());
       WaitingWriter writer(run);
       auto waits = run.in_background([&] { return doc->try_acquire_shared(waiting()); });
       EXPECT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
       writer.cancel();
       EXPECT_EQ(error_of(writer.outcome()), ErrorCode::cancelled);
       EXPECT_TRUE(must_have(run.result_of(waits))->check());
     }},

    {"AWriterThatDiesWhileItWaitsLetsReadersInAgain",
     [](LockRun& run) {
       const auto doc = run.recipes().reader_writer("doc");
       const auto reader = doc->acquire_shared(run.options());
       const store::Claim dead{.id = base::LeaseId::generate(),
                               .owner = "the dead",
                               .reason = {},
                               .ttl = 1h,
                               .permits = store::Permits::writer(),
                               .holds_back = run.ttl()};
       ASSERT_TRUE(run.store().claim("doc", dead));
       EXPECT_TRUE(is_busy(doc->try_acquire_shared(run.options())));
       run.pass(run.ttl());
       EXPECT_FALSE(is_busy(doc->try_acquire_shared(run.options())));
     }},

    {"ATryToWriteHoldsNothingBack",
     [](LockRun& run) {
       const auto doc = run.recipes().reader_writer("doc");
       const auto reader = doc->acquire_shared(run.options());
       EXPECT_TRUE(is_busy(doc->try_acquire_exclusive(run.options())));
       EXPECT_FALSE(is_busy(doc->try_acquire_shared(run.options())));
     }},

    {"ADeadReadersLeaseExpiresAlthoughOthersRenew",
     [](LockRun& run) {
       const auto doc = run.recipes().reader_writer("doc");
       const auto alive = doc->acquire_shared(run.brief_options());
       const store::Claim dead{.id = base::LeaseId::generate(),
                               .owner = "the dead",
                               .reason = {},
                               .ttl = run.ttl(),
                               .permits = store::Permits::reader()};
       ASSERT_TRUE(run.store().claim("doc", dead));
       EXPECT_EQ(run.holders("doc").size(), 2U);
       EXPECT_TRUE(run.in_time([&] { return run.holders("doc").size() == 1; }));
       EXPECT_TRUE(alive->check());
     }},

    {"ADowngradeLetsReadersInButNoWriter",
     [](LockRun& run) {
       const auto doc = run.recipes().reader_writer("doc");
       const auto lock = doc->acquire_exclusive(run.options());
       const base::FencingToken written = lock->token();
       const auto other = run.another_provider();
       const auto same = other->recipes().reader_writer("doc");
       EXPECT_TRUE(is_busy(same->try_acquire_shared(run.options())));
       ASSERT_TRUE(doc->downgrade(*lock));
       EXPECT_GT(lock->token(), written);
       EXPECT_TRUE(lock->check());
       const auto reader = must_have(same->try_acquire_shared(run.options()));
       EXPECT_TRUE(is_busy(same->try_acquire_exclusive(run.options())));
       ASSERT_TRUE(doc->downgrade(*lock));  // a second time does nothing
       EXPECT_EQ(lock->release(), store::ReleaseOutcome::released);
       EXPECT_EQ(run.holders("doc").size(), 1U);
     }},

    {"ADowngradeIsNotHeldBackByAWriterThatWaits",
     [](LockRun& run) {
       const auto doc = run.recipes().reader_writer("doc");
       const auto lock = doc->acquire_exclusive(run.options());
       WaitingWriter writer(run);
       ASSERT_TRUE(doc->downgrade(*lock));
       EXPECT_EQ(run.holders("doc").at(0).permits, 1U);
       EXPECT_EQ(lock->release(), store::ReleaseOutcome::released);
       EXPECT_TRUE(must_have(writer.outcome())->check());
     }},

    {"ADowngradedLockIsKept",
     [](LockRun& run) {
       const auto doc = run.recipes().reader_writer("doc");
       const auto lock = doc->acquire_exclusive(run.brief_options());
       ASSERT_TRUE(doc->downgrade(*lock));
       run.keep_for("doc", run.ttl() * 2);
       EXPECT_TRUE(lock->check());
     }},

    {"ADowngradeOfALostLockIsAnError",
     [](LockRun& run) {
       const auto doc = run.recipes().reader_writer("doc");
       const auto lock = doc->acquire_exclusive(run.options());
       ASSERT_EQ(run.store().release("doc", lock->id()), store::ReleaseOutcome::released);
       EXPECT_EQ(error_of(doc->downgrade(*lock)), ErrorCode::lost);
       EXPECT_TRUE(lock->lost().stop_requested());
     }},

    {"ADowngradeWhoseReplyWasLostIsDone",
     [](LockRun& run) {
       const auto doc = run.recipes().reader_writer("doc");
       const auto lock = doc->acquire_exclusive(run.options());
       run.network().lose_reply(Operation::transfer);
       ASSERT_TRUE(doc->downgrade(*lock));
       EXPECT_EQ(run.holders("doc").at(0).token, lock->token());
       EXPECT_EQ(run.holders("doc").at(0).permits, 1U);
     }},

    {"ADowngradeWhoseReplyWasLostStaysUnknownDuringAnOutage",
     [](LockRun& run) {
       const auto doc = run.recipes().reader_writer("doc");
       const auto lock = doc->acquire_exclusive(run.options());
       run.network().lose_reply(Operation::transfer);
       run.network().refuse(Operation::transfer, 2);
       EXPECT_EQ(error_of(doc->downgrade(*lock)), ErrorCode::unknown_outcome);
       ASSERT_TRUE(doc->downgrade(*lock));
       EXPECT_EQ(run.holders("doc").at(0).permits, 1U);
     }},

    {"APlainLockOfTheNameIsAConflict",
     [](LockRun& run) {
       const auto doc = run.recipes().reader_writer("doc");
       const auto plain = run.provider().acquire("doc", run.options());
       EXPECT_EQ(error_of(doc->try_acquire_shared(run.options())), ErrorCode::conflict);
       EXPECT_EQ(error_of(doc->try_acquire_exclusive(waiting())), ErrorCode::conflict);
     }},
};

}  // namespace

std::span<const LockCase> reader_writer_cases() { return kCases; }

}  // namespace holdfast::testing::internal
