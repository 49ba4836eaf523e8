#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/post.hpp>

#include <holdfast/async/internal/operation.h>

namespace holdfast::async::internal {

// The operation of one call, with the handler that is called with its outcome. A Call has what the
// procedure borrows, and is made of an EngineRoom, a Waker and the arguments:
//   steps           the procedure
//   kCancellable    whether the handler's cancellation slot and `stop` cancel it
//   stop            a stop token, if it is cancellable
//   take(room)      returns the handler's arguments as a tuple; called once
//   on_unwanted(room)  called instead of `take` when there is no handler to call
template <class Call, class Handler>
class ProcedureOperation final : public Operation {
 public:
  template <class... Arguments>
  ProcedureOperation(Handler&& handler, const std::shared_ptr<EngineRoom>& its_room,
                     Arguments&&... arguments)
      : Operation(its_room),
        call_(*its_room, *this, std::forward<Arguments>(arguments)...),
        handler_(std::move(handler)) {
    if constexpr (Call::kCancellable) {
      on_stop_.emplace(call_.stop, Cancel{this});
    }
  }

  static void start(Handler&& handler, auto&&... arguments) {
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    boost::asio::any_io_executor executor = boost::asio::get_associated_executor(handler);
    auto operation = std::make_shared<ProcedureOperation>(
        std::move(handler), std::forward<decltype(arguments)>(arguments)...);
    if (Call::kCancellable && slot.is_connected()) {
      slot.assign([weak = std::weak_ptr(operation)](boost::asio::cancellation_type) {
        if (const auto running = weak.lock()) {
          running->cancel();
        }
      });
    }
    Operation::start(std::move(operation), std::move(executor));
  }

 private:
  // For the stop token. Not a virtual call: it may come while the operation is being destroyed.
  struct Cancel {
    ProcedureOperation* operation;
    void operator()() const noexcept {
      operation->call_.steps.cancel();
      operation->Operation::wake();
    }
  };
  // The handler with its arguments, to be called at once or later on its executor.
  struct Completion {
    Handler handler;
    decltype(std::declval<Call&>().take(
        std::declval<const std::shared_ptr<EngineRoom>&>())) outcome;

    void operator()() { std::apply(std::move(handler), std::move(outcome)); }
  };

  locks::steps::Procedure& procedure() noexcept override { return call_.steps; }

  void complete(Where where, const boost::asio::any_io_executor& executor,
                std::shared_ptr<Operation> self) override {
    auto slot = boost::asio::get_associated_cancellation_slot(*handler_);
    if (Call::kCancellable && slot.is_connected()) {
      slot.clear();
    }
    Completion completion{*std::move(handler_), call_.take(room())};
    self.reset();  // the operation is destroyed before the handler runs
    if (where == Where::executor) {
      completion();
    } else {
      boost::asio::post(executor, std::move(completion));
    }
  }

  void drop_handler() noexcept override {
    [[maybe_unused]] const auto gone = std::exchange(handler_, std::nullopt);
  }
  void on_unwanted() noexcept override { call_.on_unwanted(room()); }

  Call call_;
  std::optional<Handler> handler_;
  std::optional<std::stop_callback<Cancel>> on_stop_;
};

// Starts the operation of a call, for any completion token.
template <class Call, class Signature, class Token, class... Arguments>
auto initiate(Token&& token, Arguments&&... arguments) {
  return boost::asio::async_initiate<Token, Signature>(
      [](auto&& handler, auto&&... parts) {
        using Handler = std::decay_t<decltype(handler)>;
        ProcedureOperation<Call, Handler>::start(std::forward<decltype(handler)>(handler),
                                                 std::forward<decltype(parts)>(parts)...);
      },
      token, std::forward<Arguments>(arguments)...);
}

// Does the same for a handle that may hold nothing: then it completes with `nothing`.
template <class Call, class Signature, class Outcome, class Token, class Hold, class... Arguments>
auto initiate_if_held(Outcome nothing, Token&& token, std::shared_ptr<EngineRoom> room,
                      std::shared_ptr<Hold> hold, Arguments&&... arguments) {
  return boost::asio::async_initiate<Token, Signature>(
      [nothing = std::move(nothing)](auto&& handler, auto&& its_room, auto&& its_hold,
                                     auto&&... parts) mutable {
        using Handler = std::decay_t<decltype(handler)>;
        if (its_hold != nullptr) {
          ProcedureOperation<Call, Handler>::start(
              std::forward<decltype(handler)>(handler), std::forward<decltype(its_room)>(its_room),
              std::forward<decltype(its_hold)>(its_hold), std::forward<decltype(parts)>(parts)...);
          return;
        }
        const auto executor = boost::asio::get_associated_executor(handler);
        boost::asio::post(
            executor, [told = std::forward<decltype(handler)>(handler),
                       said = std::move(nothing)]() mutable { std::move(told)(std::move(said)); });
      },
      token, std::move(room), std::move(hold), std::forward<Arguments>(arguments)...);
}

}  // namespace holdfast::async::internal
