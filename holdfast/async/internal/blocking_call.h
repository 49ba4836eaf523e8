#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <tuple>
#include <utility>

#include <holdfast/async/internal/calls.h>
#include <holdfast/async/internal/procedure_operation.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/steps/procedure.h>

namespace holdfast::async::internal {

// The purpose of a call to the store. A call that releases something always has room in the pool's
// queue: a refusal would block the caller's thread, or leave a lease behind.
enum class Purpose : std::uint8_t { ask, give_back };

// A call whose work asks the store by itself, and blocks: it runs in a thread of the pool, or at
// once if the store is immediate. `Outcome` is a base::Result.
template <class Outcome>
struct BlockingCall : UncancellableCall {
  template <class Waker>
  BlockingCall(const EngineRoom& /*room*/, Waker& /*waker*/, std::function<Outcome()> work,
               Purpose purpose)
      : steps(std::move(work), purpose) {}

  [[nodiscard]] std::tuple<Outcome> take(const Room& /*room*/) { return std::move(steps.outcome); }

  class Steps final : public locks::steps::Procedure {
   public:
    Steps(std::function<Outcome()> work, Purpose purpose)
        : work_(std::move(work)), purpose_(purpose) {}

    // The only step that may block.
    [[nodiscard]] locks::steps::Step start() override {
      return {.kind = locks::steps::Step::Kind::watch,
              .gives_back = purpose_ == Purpose::give_back};
    }
    [[nodiscard]] locks::steps::Step on(locks::steps::Answer&& /*answer*/) override { return {}; }
    void watch() override {
      const auto work = std::exchange(work_, nullptr);
      try {
        outcome = work();
      } catch (const std::exception& error) {
        outcome = base::fail(base::ErrorCode::internal, error.what());
      }
    }

    Outcome outcome = base::fail(base::ErrorCode::limit_exceeded,
                                 "too many requests wait for a thread that asks the store: raise "
                                 "AsyncOptions::pool_queue or pool_threads");

   private:
    std::function<Outcome()> work_;
    const Purpose purpose_;
  };
  Steps steps;
};

// Starts such a call, for any completion token.
template <class Outcome, class Token>
auto initiate_blocking(Token&& token, const Room& room, std::function<Outcome()> work,
                       Purpose purpose = Purpose::ask) {
  return initiate<BlockingCall<Outcome>, void(Outcome)>(std::forward<Token>(token), room,
                                                        std::move(work), purpose);
}

// Runs work that gives something back, without a waiting caller, and destroys it there.
void run_in_background(const Room& room, std::function<void()> work);

}  // namespace holdfast::async::internal
