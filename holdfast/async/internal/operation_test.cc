// The rows of the table in operation.h. The test's store answers when the test says so.
#include <holdfast/async/internal/operation.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <holdfast/async/internal/procedure_operation.h>
#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/store/async_lease_store.h>

namespace holdfast::async::internal {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using base::Result;
using locks::steps::Answer;
using locks::steps::Step;
using locks::steps::Woken;
using Looked = Result<std::optional<store::NameState>>;

// A store of which only `look` is asked: it blocks until the test answers.
class SlowStore : public store::LeaseStore {
 public:
  [[nodiscard]] store::Capabilities capabilities() const override { return {}; }
  void answer() { answers_.release(); }

 private:
  template <class T>
  static Result<T> no() {
    return base::fail(base::ErrorCode::unsupported, "not asked by this test");
  }
  Result<store::ClaimOutcome> do_claim(const base::Name&, const store::Claim&,
                                       base::Deadline) override {
    return no<store::ClaimOutcome>();
  }
  Result<std::vector<store::RenewOutcome>> do_renew(std::span<const store::Renewal>,
                                                    base::Deadline) override {
    return no<std::vector<store::RenewOutcome>>();
  }
  Result<store::TransferOutcome> do_transfer(const base::Name&, const base::LeaseId&,
                                             const store::Claim&, base::Deadline) override {
    return no<store::TransferOutcome>();
  }
  Result<store::ReleaseOutcome> do_release(const base::Name&, const base::LeaseId&,
                                           base::Deadline) override {
    return no<store::ReleaseOutcome>();
  }
  Looked do_look(const base::Name&, base::Deadline) override {
    answers_.acquire();
    return std::nullopt;
  }
  Result<store::Page> do_list(std::string_view, const store::PageRequest&,
                              base::Deadline) override {
    return no<store::Page>();
  }
  Result<store::HitOutcome> do_hit(const base::Name&, const store::Hit&, base::Deadline) override {
    return no<store::HitOutcome>();
  }
  Result<store::Watch> do_watch(const base::Name&, store::WatchCallback) override {
    return no<store::Watch>();
  }

  std::counting_semaphore<> answers_{0};
};

// The result of a procedure, as the test sees it.
struct Log {
  std::atomic<int> answers = 0;
  std::atomic<bool> is_woken = false;
  std::atomic<bool> failed = false;
  std::atomic<bool> cancelled = false;
  std::atomic<bool> unwanted = false;
};

// Takes the given steps, whatever comes of them, until it is cancelled.
struct ScriptedCall {
  static constexpr bool kCancellable = true;

  ScriptedCall(EngineRoom& /*room*/, locks::steps::Waker& its_waker, std::vector<Step> script,
               std::shared_ptr<Log> its_log, locks::steps::Waker** waker = nullptr)
      : log(std::move(its_log)), steps(std::move(script), *log) {
    if (waker != nullptr) {
      *waker = &its_waker;
    }
  }

  std::tuple<int> take(const std::shared_ptr<EngineRoom>& /*room*/) { return log->answers.load(); }
  void on_unwanted(const std::shared_ptr<EngineRoom>& /*room*/) { log->unwanted = true; }

  class Steps final : public locks::steps::Procedure {
   public:
    Steps(std::vector<Step> script, Log& log) : script_(std::move(script)), log_(log) {}
    Step start() override { return next(); }
    Step on(Answer&& answer) override {
      ++log_.answers;
      log_.cancelled = is_cancelled();
      if (const auto* const woken = std::get_if<Woken>(&answer)) {
        log_.is_woken = woken->by_waker;
      }
      if (const auto* const looked = std::get_if<Looked>(&answer)) {
        log_.failed = !*looked;
      }
      return is_cancelled() ? Step() : next();
    }

   private:
    Step next() { return at_ < script_.size() ? script_[at_++] : Step(); }

    const std::vector<Step> script_;
    std::size_t at_ = 0;
    Log& log_;
  };

  std::stop_token stop;
  std::shared_ptr<Log> log;
  Steps steps;
};

const Step kLook{.kind = Step::Kind::look, .name = "job"};

class OperationTest : public ::testing::Test {
 protected:
  void start(std::vector<Step> script) {
    auto handler = asio::bind_executor(
        context_->get_executor(),
        [this, kept = std::shared_ptr<int>(sentinel_)](int answers) { ended_ = answers; });
    using Handler = decltype(handler);
    ProcedureOperation<ScriptedCall, Handler>::start(std::move(handler), room_, std::move(script),
                                                     log_, &waker_);
  }
  void make_immediate() {
    auto store = std::make_shared<engines::memory::MemoryStore>();
    room_ = EngineRoom::make(store, *store, clock_, {});
  }
  // Runs the executor until the handler was called.
  void run_to_the_end() {
    while (!ended_) {
      context_->run_one();
    }
  }
  [[nodiscard]] Step sleep(base::Duration time) const {
    return Step::wait_until(clock_.now() + time);
  }

  base::ManualClock clock_;
  std::shared_ptr<SlowStore> store_ = std::make_shared<SlowStore>();
  std::shared_ptr<EngineRoom> room_ =
      EngineRoom::make(store_, *store_, clock_, {.pool_threads = 1, .pool_queue = 1});
  std::optional<asio::io_context> context_{std::in_place};
  std::shared_ptr<Log> log_ = std::make_shared<Log>();
  std::shared_ptr<int> sentinel_ = std::make_shared<int>(0);
  locks::steps::Waker* waker_ = nullptr;
  std::optional<int> ended_;
};

TEST_F(OperationTest, AnAnswerThatIsThereAtOnceNeedsNoExecutor) {
  make_immediate();
  start({kLook, kLook});
  EXPECT_EQ(log_->answers, 2);
  EXPECT_FALSE(ended_) << "the handler was called in the initiation";
  run_to_the_end();
  EXPECT_EQ(ended_, 2);
}

TEST_F(OperationTest, AnAnswerOfThePoolGoesOnOnTheExecutor) {
  start({kLook});
  store_->answer();
  run_to_the_end();
  EXPECT_EQ(ended_, 1);
  EXPECT_FALSE(log_->failed);
}

TEST_F(OperationTest, AFullPoolIsAnAnswerToo) {
  start({kLook});
  while (room_->pool.queued() != 0) {
    std::this_thread::yield();
  }
  start({kLook});  // waits for the thread
  const auto first = std::exchange(log_, std::make_shared<Log>());
  start({kLook});
  EXPECT_EQ(log_->answers, 1);
  EXPECT_TRUE(log_->failed);
  store_->answer();
  store_->answer();
  while (first->answers < 2) {
    context_->run_one();
  }
}

TEST_F(OperationTest, AWaitEndsWhenItsTimeHasCome) {
  start({sleep(1s)});
  EXPECT_EQ(log_->answers, 0);
  clock_.advance(1s);
  run_to_the_end();
  EXPECT_FALSE(log_->is_woken);
}

TEST_F(OperationTest, AWaitEndsWhenItIsWoken) {
  start({sleep(1h)});
  waker_->wake();
  waker_->wake();
  run_to_the_end();
  EXPECT_EQ(ended_, 1);
  EXPECT_TRUE(log_->is_woken);
}

TEST_F(OperationTest, AWakeUpDuringARequestEndsTheNextWaitAndOnlyThat) {
  start({kLook, sleep(1h), sleep(2h)});
  waker_->wake();
  store_->answer();
  while (log_->answers < 2) {
    context_->run_one();
  }
  EXPECT_TRUE(log_->is_woken);
  EXPECT_FALSE(ended_);
  clock_.advance(2h);
  run_to_the_end();
  EXPECT_FALSE(log_->is_woken);
}

TEST_F(OperationTest, AsleepWhenTheContextEndsItIsCancelledAndEndsInTheBackground) {
  start({sleep(1h)});
  context_.reset();
  EXPECT_EQ(sentinel_.use_count(), 1) << "the handler was not destroyed";
  room_->wait_for_background();
  EXPECT_TRUE(log_->cancelled);
  EXPECT_TRUE(log_->unwanted);
}

TEST_F(OperationTest, PostedWhenTheContextEndsItEndsInTheBackground) {
  start({sleep(1h), sleep(1h)});
  waker_->wake();  // the executor has the next step, and never runs it
  context_.reset();
  EXPECT_EQ(sentinel_.use_count(), 1);
  room_->wait_for_background();
  EXPECT_EQ(log_->answers, 1);
  EXPECT_TRUE(log_->unwanted);
}

TEST_F(OperationTest, AskingWhenTheContextEndsItEndsInTheBackgroundAfterTheAnswer) {
  start({kLook, sleep(1h)});
  context_.reset();
  EXPECT_EQ(sentinel_.use_count(), 1);
  EXPECT_FALSE(log_->unwanted);
  store_->answer();
  room_->wait_for_background();
  EXPECT_EQ(log_->answers, 1);
  EXPECT_TRUE(log_->cancelled);
  EXPECT_TRUE(log_->unwanted);
}

TEST_F(OperationTest, InTheBackgroundItNeedsNoExecutor) {
  const auto ignore = [](int) {};
  Operation::start_in_background(
      std::make_shared<ProcedureOperation<ScriptedCall, std::decay_t<decltype(ignore)>>>(
          std::decay_t<decltype(ignore)>(ignore), room_, std::vector<Step>{kLook, sleep(1s)},
          log_));
  store_->answer();
  while (log_->answers < 1) {
    std::this_thread::yield();
  }
  clock_.advance(1s);
  room_->wait_for_background();
  EXPECT_EQ(log_->answers, 2);
  EXPECT_TRUE(log_->unwanted);
}

}  // namespace
}  // namespace holdfast::async::internal
