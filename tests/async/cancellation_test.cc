// Cancels an operation after every number of steps that it can have taken.

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <holdfast/async/async_lock_provider.h>

#include "async_test.h"

namespace holdfast::tests {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using async::AsyncLockProvider;
using base::ErrorCode;

enum class By : std::uint8_t { signal, stop_token };

// One wait for a name that another holds, cancelled after so many handlers; the other releases
// after some, never, or before.
class CancelledWait {
 public:
  explicit CancelledWait(std::shared_ptr<store::LeaseStore> store)
      : provider_(std::move(store), {.poll_least = 1ms, .poll_most = 2ms}) {}

  void run(By by, int cancel_after, std::optional<int> release_after) {
    asio::io_context context;
    asio::cancellation_signal signal;
    std::stop_source stop;
    std::optional<locks::Lock> held = provider_.blocking().acquire("job");
    bool ended = false;
    const auto sentinel = std::make_shared<int>(0);
    asio::co_spawn(
        context,
        [&, kept = sentinel]() -> asio::awaitable<void> {
          const locks::AcquireOptions how{.wait = 1h, .stop = stop.get_token()};
          auto lock = co_await provider_.try_acquire("job", how);
          if (!lock) {
            EXPECT_EQ(lock.error().code, ErrorCode::cancelled);
          }
          ended = true;
        },
        asio::bind_cancellation_slot(signal.slot(), [](const std::exception_ptr&) {}));
    int ran = 0;
    const auto step_to = [&](int handlers) {
      for (; ran < handlers && !ended && context.run_one_for(kPatience) > 0; ++ran) {
      }
    };
    if (release_after) {
      step_to(std::min(*release_after, cancel_after));
      if (*release_after <= cancel_after) {
        held.reset();
      }
    }
    step_to(cancel_after);
    by == By::signal ? signal.emit(asio::cancellation_type::terminal)
                     : static_cast<void>(stop.request_stop());
    context.run_for(kPatience);
    EXPECT_EQ(sentinel.use_count(), 1) << "a coroutine was not destroyed";
    provider_.wait_for_background();
    EXPECT_EQ(provider_.waiting(), 0U);
    EXPECT_EQ(provider_.held(), held ? 1U : 0U);
    held.reset();
    const auto state = base::value_or_throw(provider_.blocking().look("job"));
    EXPECT_FALSE(state) << "a lease remains";
  }

 private:
  AsyncLockProvider provider_;
};

class AsyncCancellation : public AsyncTest {};

INSTANTIATE_TEST_SUITE_P(Stores, AsyncCancellation,
                         ::testing::Values("memory", "pool", "sqlite", "redis"), name_of_store);

TEST_P(AsyncCancellation, AfterEveryStepLeavesNothingBehind) {
  constexpr int kSteps = 10;
  CancelledWait wait(open());
  for (const By by : {By::signal, By::stop_token}) {
    for (int cancel_after = 0; cancel_after < kSteps; ++cancel_after) {
      SCOPED_TRACE("cancelled after " + std::to_string(cancel_after));
      wait.run(by, cancel_after, std::nullopt);
      for (int release_after = 0; release_after <= cancel_after; ++release_after) {
        SCOPED_TRACE("released after " + std::to_string(release_after));
        wait.run(by, cancel_after, release_after);
      }
      if (HasFailure()) {
        return;
      }
    }
  }
}

// The same where the store loses replies: what it granted must not remain.
TEST_P(AsyncCancellation, WhileRepliesAreLostLeavesNothingBehind) {
  const auto real = open();
  const auto faulty = std::make_shared<testing::FaultyStore>(real);
  for (int cancel_after = 0; cancel_after < 8; ++cancel_after) {
    SCOPED_TRACE("cancelled after " + std::to_string(cancel_after));
    AsyncLockProvider provider(faulty, {.poll_least = 1ms, .poll_most = 2ms});
    faulty->lose_reply(testing::Operation::claim, 2);
    asio::io_context context;
    asio::cancellation_signal signal;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
          const locks::AcquireOptions how{.wait = 1h};
          const auto lock = co_await provider.try_acquire("job", how);
        },
        asio::bind_cancellation_slot(signal.slot(), [](const std::exception_ptr&) {}));
    run_some(context, cancel_after);
    signal.emit(asio::cancellation_type::terminal);
    context.run_for(kPatience);
    provider.wait_for_background();
    EXPECT_EQ(provider.waiting(), 0U);
    EXPECT_TRUE(is_empty(*real));
    // Faults that were not met are not for the next round.
    for (int i = 0; i < 2; ++i) {
      (void)faulty->claim(
          "rest", {.id = base::LeaseId::generate(), .owner = "me", .reason = {}, .ttl = 1min});
    }
    for (const auto& name : base::value_or_throw(real->list("")).names) {
      (void)real->release(name.name.view(), name.holders.at(0).id);
    }
  }
}

}  // namespace
}  // namespace holdfast::tests
