#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>

#include <holdfast/async/blocking_pool.h>
#include <holdfast/async/internal/context_members.h>
#include <holdfast/async/internal/engine_room.h>
#include <holdfast/async/internal/timer.h>
#include <holdfast/base/mutex.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/locks/steps/waker.h>

namespace holdfast::async::internal {

// Drives one procedure without blocking, step by step: in front, on the executor of a handler that
// is called at the end, or in the background, on the pool, without a handler.
//
//   state     event                        action                              next
//   ─         start                        take the first step                 stepping
//   stepping  a step asks the store        ask: here, directly, or in the      stepping if it is
//                                          pool                                answered here or the
//                                                                              pool is full; asking
//   stepping  a step waits                 set the timer                       asleep
//   stepping  a step waits, and a wake-up  take the wake-up for the answer     stepping
//             came since the last wait
//   stepping  done                         call the handler, or, without one,  (destroyed)
//                                          drop the outcome
//   asking    the answer                   post the next step                  posted
//   asleep    a wake-up: called, cancelled, post the next step                  posted
//             or the time has come
//   posted    its turn                     give the procedure its answer       stepping
//   asleep,   the context ends             cancel the procedure, destroy the   posted, in the
//   posted                                 handler, post to the pool           background
//   asking    the context ends             cancel the procedure, destroy the   asking, in the
//                                          handler                             background
//
// A step is posted to the executor in front, to the pool in the background. It keeps itself alive
// until its end.
class Operation : public locks::steps::Waker,
                  private BlockingPool::Task,
                  private Timer::Sleeper,
                  private ContextMember {
 public:
  ~Operation() override;

  // Takes the first step at once, in the calling thread; does not call the handler from here.
  static void start(std::shared_ptr<Operation> operation, boost::asio::any_io_executor executor);
  static void start_in_background(std::shared_ptr<Operation> operation);

  // May be called from any thread.
  void cancel() noexcept;
  void wake() noexcept override { on_wakeup(Wakeup::call); }

 protected:
  // The thread in which something happens.
  enum class Where : std::uint8_t { initiation, executor, background };

  explicit Operation(std::shared_ptr<EngineRoom> room) noexcept : room_(std::move(room)) {}

  [[nodiscard]] const std::shared_ptr<EngineRoom>& room() const noexcept { return room_; }
  [[nodiscard]] virtual locks::steps::Procedure& procedure() noexcept = 0;
  // Calls the handler with the outcome, on `executor`: now, if this runs there. `self` is the last
  // reference to the operation.
  virtual void complete(Where where, const boost::asio::any_io_executor& executor,
                        std::shared_ptr<Operation> self) = 0;
  // Destroys the handler uncalled.
  virtual void drop_handler() noexcept = 0;
  // Called when it has ended without a handler.
  virtual void on_unwanted() noexcept {}

 private:
  enum class State : std::uint8_t { stepping, asking, asleep, posted };
  enum class Wakeup : std::uint8_t { none, time, call };
  class Resume;

  // Takes steps, until one has no answer yet or it is done. Afterwards it may be destroyed. An
  // exception of the handler passes to the caller that runs the executor.
  void advance(Where where);
  // Return whether the answer is there already. Otherwise the operation belongs to others from here
  // on.
  [[nodiscard]] bool ask() noexcept;
  [[nodiscard]] bool fall_asleep() noexcept;
  void ask_here() noexcept;
  void ask_directly() noexcept;
  template <class T>
  [[nodiscard]] auto take_answer();
  void on_answer() noexcept;
  void on_wakeup(Wakeup why) noexcept;
  void resume(Where where);
  void finish(Where where);

  void post_next_step() noexcept HOLDFAST_REQUIRES(mutex_);
  [[nodiscard]] bool is_in_front() const noexcept HOLDFAST_REQUIRES(mutex_) {
    return static_cast<bool>(executor_);
  }

  // Called when the context of the executor ends.
  bool withdraw(WaiterQueue& /*let_in*/) noexcept override { return true; }
  void drop() noexcept override;

  void run_in_pool() noexcept override;
  void on_time() noexcept override { on_wakeup(Wakeup::time); }

  const std::shared_ptr<EngineRoom> room_;
  std::shared_ptr<Operation> self_;  // until its end
  ContextMembers* context_ = nullptr;

  // The step under way: these belong to the thread that takes it.
  locks::steps::Step step_{};
  locks::steps::Answer answer_{};

  base::Mutex mutex_;
  boost::asio::any_io_executor executor_ HOLDFAST_GUARDED_BY(mutex_);  // empty in the background
  State state_ HOLDFAST_GUARDED_BY(mutex_) = State::stepping;
  Wakeup wakeup_ HOLDFAST_GUARDED_BY(mutex_) = Wakeup::none;  // since the last wait
};

}  // namespace holdfast::async::internal
