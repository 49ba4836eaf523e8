// Tests of waits that end without the key.
#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <variant>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <holdfast/async/async_key_lock.h>
#include <holdfast/async/key_testing_support.h>

namespace holdfast::async {
namespace {

using namespace std::chrono_literals;
using testing_support::Line;
using testing_support::Names;
using testing_support::settle;
namespace asio = boost::asio;
using Error = boost::system::error_code;

constexpr auto kNever = 1h;  // for waits that something else ends

class AsyncKeyCancel : public testing::Test {
 protected:
  // Returns the error with which the operation that starts with the token completes.
  auto into(std::optional<Error>& result) {
    return asio::bind_executor(context, [&result](Error error, const AsyncExclusiveGuard& guard) {
      EXPECT_NE(error.failed(), guard.holds());
      result = error;
    });
  }

  AsyncKeyLock keys;
  asio::io_context context;
  Line line{keys, context};
};

TEST_F(AsyncKeyCancel, TheSlotOfAnOperationEndsItsWait) {
  for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                          asio::cancellation_type::total}) {
    auto holder = keys.try_lock("k");
    asio::cancellation_signal signal;
    std::optional<Error> result;
    keys.lock("k", asio::bind_cancellation_slot(signal.slot(), into(result)));
    settle(context);
    EXPECT_FALSE(result);
    signal.emit(type);
    EXPECT_FALSE(result) << "completed inside emit()";
    settle(context);
    EXPECT_EQ(result, Error(asio::error::operation_aborted));
    EXPECT_FALSE(signal.slot().has_handler());
    signal.emit(type);  // the operation has ended already
    holder.reset();
    EXPECT_EQ(keys.size(), 0U);
  }
}

TEST_F(AsyncKeyCancel, ALateCancellationDoesNothing) {
  auto holder = keys.try_lock("k");
  asio::cancellation_signal signal;
  std::optional<Error> result;
  keys.lock("k", asio::bind_cancellation_slot(signal.slot(), into(result)));
  holder.reset();  // the key is on its way
  signal.emit(asio::cancellation_type::terminal);
  settle(context);
  EXPECT_EQ(result, Error());
  EXPECT_FALSE(signal.slot().has_handler());
}

TEST_F(AsyncKeyCancel, AnAlternativeThatComesFirstEndsTheWait) {
  using asio::experimental::awaitable_operators::operator||;
  auto holder = keys.try_lock("k");
  line.writer("next");
  std::optional<std::size_t> which;
  const auto impatient = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(context, 0s);
    const auto result = co_await (keys.lock("k") || timer.async_wait(asio::use_awaitable));
    which = result.index();
  };
  asio::co_spawn(context, impatient(), asio::detached);
  line.writer("last");
  while (!which) context.run_one();
  EXPECT_EQ(which, 1U);
  holder.reset();
  settle(context);
  line.let_go("next");
  EXPECT_EQ(line.news(), (Names{"next", "last"}));
}

TEST_F(AsyncKeyCancel, AKeyThatComesFirstEndsTheAlternative) {
  using asio::experimental::awaitable_operators::operator||;
  auto holder = keys.try_lock("k");
  std::optional<std::size_t> which;
  const auto patient = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(context, kNever);
    const auto result = co_await (keys.lock("k") || timer.async_wait(asio::use_awaitable));
    which = result.index();
    EXPECT_FALSE(keys.try_lock("k"));
  };
  asio::co_spawn(context, patient(), asio::detached);
  settle(context);
  holder.reset();
  settle(context);
  EXPECT_EQ(which, 0U);
  EXPECT_EQ(keys.size(), 0U);
}

TEST_F(AsyncKeyCancel, AStopTokenEndsTheWaitFromAnyThread) {
  auto holder = keys.try_lock("k");
  std::stop_source source;
  std::optional<Error> result;
  keys.lock("k", source.get_token(), into(result));
  settle(context);
  EXPECT_FALSE(result);
  std::jthread([&] { source.request_stop(); }).join();
  settle(context);
  EXPECT_EQ(result, Error(asio::error::operation_aborted));
  holder.reset();
  EXPECT_EQ(keys.size(), 0U);
}

TEST_F(AsyncKeyCancel, ATokenThatIsAlreadyStoppedMakesNoTry) {
  std::stop_source source;
  source.request_stop();
  std::optional<Error> result;
  keys.lock("free", source.get_token(), into(result));
  settle(context);
  EXPECT_EQ(result, Error(asio::error::operation_aborted));
  line.writer("coroutine", source.get_token());
  EXPECT_EQ(line.news(), (Names{"coroutine cancelled"}));
}

TEST_F(AsyncKeyCancel, ATokenThatIsStoppedTooLateDoesNothing) {
  auto holder = keys.try_lock("k");
  std::stop_source source;
  std::optional<Error> result;
  keys.lock("k", source.get_token(), into(result));
  holder.reset();
  source.request_stop();
  settle(context);
  EXPECT_EQ(result, Error());
}

TEST_F(AsyncKeyCancel, ADeadlineEndsTheWait) {
  auto holder = keys.try_lock("k");
  std::optional<Error> timed;
  keys.lock_for("k", 1ms, into(timed));
  std::optional<Error> until;
  keys.lock_until("k", std::chrono::system_clock::now() + 1ms, into(until));
  context.run();
  EXPECT_EQ(timed, Error(asio::error::timed_out));
  EXPECT_EQ(until, Error(asio::error::timed_out));
  holder.reset();
  EXPECT_EQ(keys.size(), 0U);
}

TEST_F(AsyncKeyCancel, ADeadlineInThePastIsOneTry) {
  const auto past = std::chrono::steady_clock::now() - 1s;
  std::optional<Error> free_key;
  keys.lock_until("k", past, into(free_key));
  context.run();
  EXPECT_EQ(free_key, Error());
  const auto holder = keys.try_lock("k");
  std::optional<Error> taken;
  keys.lock_until("k", past, into(taken));
  context.restart();
  context.run();
  EXPECT_EQ(taken, Error(asio::error::timed_out));
}

TEST_F(AsyncKeyCancel, AKeyInTimeLeavesNoTimerBehind) {
  auto holder = keys.try_lock("k");
  std::optional<Error> result;
  keys.lock_for("k", kNever, into(result));
  std::optional<Error> endless;
  keys.lock_for("k", std::chrono::hours::max(), into(endless));
  settle(context);
  holder.reset();
  context.run();  // and does not wait for the timer
  EXPECT_EQ(result, Error());
  EXPECT_EQ(endless, Error());
  EXPECT_EQ(keys.size(), 0U);
}

TEST_F(AsyncKeyCancel, ASlotEndsAWaitWithADeadline) {
  auto holder = keys.try_lock("k");
  asio::cancellation_signal signal;
  std::optional<Error> result;
  keys.lock_for("k", kNever, asio::bind_cancellation_slot(signal.slot(), into(result)));
  settle(context);
  signal.emit(asio::cancellation_type::total);
  context.run();
  EXPECT_EQ(result, Error(asio::error::operation_aborted));
}

TEST_F(AsyncKeyCancel, AReaderCanBeLimitedToo) {
  const auto holder = keys.try_lock("k");
  auto timed = keys.lock_shared_for("k", 1ms, asio::use_future);
  EXPECT_THROW(timed.get(), boost::system::system_error);
  auto until = keys.lock_shared_until("k", std::chrono::steady_clock::now(), asio::use_future);
  EXPECT_THROW(until.get(), boost::system::system_error);
  EXPECT_TRUE(keys.lock_shared("free", AsyncKeyWait(), asio::use_future).get());
}

}  // namespace
}  // namespace holdfast::async
