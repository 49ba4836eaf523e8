// Saves of many objects that meet: one batch at a time.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/objects/internal/testing_support.h>

namespace holdfast::objects::internal {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using testing::answer;
using testing::Door;
using testing::eventually;

class WriterTest : public ::testing::Test, protected testing::CoreTest {
 protected:
  // Returns how many callers wait for a batch.
  [[nodiscard]] std::size_t waiting() {
    const auto states = core->writer.batches().snapshot();
    return states.empty() ? 0 : states.front().waiting_exclusive;
  }
};

// A save_all that hangs in the store, so that a second one has to wait for its batch.
class SaveAllDuringAnother : public WriterTest {
 protected:
  SaveAllDuringAnother() {
    start(testing::HostTest::quiet());
    change("a");
    face.repository->on_save = [this]() -> base::Result<void> {
      inside_.open();
      leave_.pass();
      return {};
    };
    first_ = std::jthread([this] { EXPECT_EQ(core->save_all(kNoLimits), 1U); });
    inside_.pass();
  }
  ~SaveAllDuringAnother() override {
    leave_.open();
    if (first_.joinable()) first_.join();
  }

  Door inside_;
  Door leave_;
  std::jthread first_;
};

TEST_F(SaveAllDuringAnother, EndsWithinItsTime) {
  EXPECT_EQ(answer(core->save_all({.within = 5ms})), "timed_out");
  leave_.open();
  first_.join();
  EXPECT_EQ(core->save_all({.within = 1h}), 0U);
}

TEST_F(SaveAllDuringAnother, EndsWhenItsCallerStopsIt) {
  std::stop_source source;
  std::string seen;
  std::jthread second([&] { seen = answer(core->save_all({.stop = source.get_token()})); });
  EXPECT_TRUE(eventually([&] { return waiting() == 1; }));
  source.request_stop();
  second.join();
  EXPECT_EQ(seen, "cancelled");
}

TEST_F(SaveAllDuringAnother, WaitsForItWithoutALimit) {
  std::atomic<bool> is_over = false;
  std::jthread second([&] {
    EXPECT_EQ(core->save_all(kNoLimits), 0U);
    is_over = true;
  });
  EXPECT_TRUE(eventually([&] { return waiting() == 1; }));
  EXPECT_FALSE(is_over);
  leave_.open();
  second.join();
}

// A save of many batches, all of which fail; another caller gets the lock of batches in between.
class SaveThatIsInterrupted : public WriterTest {
 protected:
  void begin(HostOptions options, ErrorCode failure) {
    options.save_batch = 1;
    start(std::move(options));
    for (int i = 0; i < 100; ++i) change(std::to_string(i));
    face.repository->on_save = [this, failure]() -> base::Result<void> {
      inside_.open();
      // Long enough that the release of the batch passes the lock to the waiter.
      EXPECT_TRUE(eventually([this] { return waiting() == 1; }));
      testing::let_others_err();
      return base::fail(failure, "as the test wants it");
    };
  }
  // Holds the lock of batches while the save waits for it.
  [[nodiscard]] local::ExclusiveGuard interrupt() {
    inside_.pass();
    return core->writer.batches().lock("");
  }

 private:
  Door inside_;
};

TEST_F(SaveThatIsInterrupted, TellsItsCallerWhatHadFailedBefore) {
  begin(testing::HostTest::quiet(), ErrorCode::corrupt);
  std::stop_source source;
  std::string seen;
  std::jthread saving([&] { seen = answer(core->save_all({.stop = source.get_token()})); });
  auto batches = interrupt();
  EXPECT_TRUE(eventually([&] { return waiting() == 1; }));
  source.request_stop();
  saving.join();
  EXPECT_EQ(seen, "corrupt");
}

TEST_F(SaveThatIsInterrupted, IsAWarningIfItIsTheHostsOwn) {
  std::atomic<int> warnings = 0;
  begin({.save_every = 5s,
         .logger = base::Logger([&](base::LogLevel level, std::string_view) {
           if (level == base::LogLevel::warning) ++warnings;
         }),
         .clock = &clock},
        ErrorCode::unavailable);
  clock.wait_for_sleepers(1);
  clock.advance(5s);
  {
    auto batches = interrupt();
    clock.wait_for_sleepers(1);  // the save has ended
  }
  EXPECT_EQ(warnings, 1);
  core.reset();
}

TEST_F(WriterTest, AnObjectThatIsBusyDoesNotHideThatTheStoreIsUnavailable) {
  start(testing::HostTest::quiet());
  change("busy");
  change("free");
  face.repository->on_save = []() -> base::Result<void> {
    return base::fail(ErrorCode::unavailable, "as the test wants it");
  };
  const auto busy = type->keys.lock("busy");
  Operation operation(*core);
  operation.hurry(1ms);
  EXPECT_EQ(answer(core->writer.save_listed(operation)), "unavailable");
}

}  // namespace
}  // namespace holdfast::objects::internal
