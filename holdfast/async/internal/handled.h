#pragma once

#include <memory>
#include <optional>
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

// An operation with the handler that is called with its outcome. `Base::take` returns the handler's
// arguments as a tuple.
template <class Base, class Handler>
class Handled final : public Base {
 public:
  template <class... Arguments>
  explicit Handled(Handler&& handler, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), handler_(std::move(handler)) {}

  // The handler with its arguments, to be called at once or later on its executor.
  struct Completion {
    Handler handler;
    decltype(std::declval<Base&>().take()) outcome;

    void operator()() {
      std::apply([this](auto&&... values) { std::move(handler)(std::move(values)...); },
                 std::move(outcome));
    }
  };

  static void start(Handler&& handler, auto&&... arguments) {
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    boost::asio::any_io_executor executor = boost::asio::get_associated_executor(handler);
    auto operation = std::make_shared<Handled>(std::move(handler),
                                               std::forward<decltype(arguments)>(arguments)...);
    if constexpr (Base::kCancellable) {
      if (slot.is_connected()) {
        slot.assign([weak = std::weak_ptr(operation)](boost::asio::cancellation_type) {
          if (const auto running = weak.lock()) {
            running->cancel();
          }
        });
      }
    }
    Operation::start(std::move(operation), std::move(executor));
  }

 private:
  void complete(Operation::Where where, const boost::asio::any_io_executor& executor,
                std::shared_ptr<Operation> self) override {
    if constexpr (Base::kCancellable) {
      auto slot = boost::asio::get_associated_cancellation_slot(*handler_);
      if (slot.is_connected()) {
        slot.clear();
      }
    }
    Completion completion{*std::move(handler_), this->take()};
    self.reset();  // the operation is destroyed before the handler runs
    if (where == Operation::Where::executor) {
      completion();
    } else {
      boost::asio::post(executor, std::move(completion));
    }
  }

  void drop() noexcept override { const auto gone = std::exchange(handler_, std::nullopt); }

  std::optional<Handler> handler_;
};

// Starts an operation for any completion token.
template <class Base, class Signature, class Token, class... Arguments>
auto initiate(Token&& token, Arguments&&... arguments) {
  return boost::asio::async_initiate<Token, Signature>(
      [](auto&& handler, auto&&... parts) {
        using Handler = std::decay_t<decltype(handler)>;
        Handled<Base, Handler>::start(std::forward<decltype(handler)>(handler),
                                      std::forward<decltype(parts)>(parts)...);
      },
      token, std::forward<Arguments>(arguments)...);
}

// Does the same for a handle that may hold nothing: then it completes with `nothing`.
template <class Base, class Signature, class Outcome, class Token, class Hold, class... Arguments>
auto initiate_if_held(Outcome nothing, Token&& token, std::shared_ptr<EngineRoom> room,
                      std::shared_ptr<Hold> hold, Arguments&&... arguments) {
  return boost::asio::async_initiate<Token, Signature>(
      [nothing = std::move(nothing)](auto&& handler, auto&& its_room, auto&& its_hold,
                                     auto&&... parts) mutable {
        using Handler = std::decay_t<decltype(handler)>;
        if (its_hold != nullptr) {
          Handled<Base, Handler>::start(
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
