#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include <boost/asio/any_io_executor.hpp>

#include <holdfast/async/blocking_pool.h>
#include <holdfast/async/internal/alarm.h>
#include <holdfast/async/internal/engine_room.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/locks/steps/ringer.h>

namespace holdfast::async::internal {

class Presence;

// Drives one procedure without blocking, step by step: on an executor for a caller that waits for
// the end, or in the background, on the pool, without one.
//
//   in front     its steps run on the executor; its end calls the handler
//   abandoned    the executor's context ends first: the handler is destroyed uncalled, and the
//                procedure is cancelled and continues in the background, until it has released
//                whatever it holds
//   background   from the beginning, or since it was abandoned
//
// It keeps itself alive until its end. Between two steps it belongs to the event that wakes it: the
// store's answer, its Ringer, or the alarm, whichever comes first.
class Operation : public locks::steps::Ringer, private BlockingPool::Task, private Alarm::Sleeper {
 public:
  ~Operation() override;

  // Takes the first step at once, in the calling thread; does not call the handler from here.
  static void start(std::shared_ptr<Operation> operation, boost::asio::any_io_executor executor);
  static void start_in_background(std::shared_ptr<Operation> operation);

  // May be called from any thread.
  void cancel() noexcept;
  void ring() noexcept override;

 protected:
  // The thread in which something happens.
  enum class Where : std::uint8_t { initiation, executor, background };

  explicit Operation(std::shared_ptr<EngineRoom> room) noexcept : room_(std::move(room)) {}

  [[nodiscard]] const std::shared_ptr<EngineRoom>& room() const noexcept { return room_; }
  [[nodiscard]] virtual locks::steps::Procedure& procedure() noexcept = 0;
  // Called before the first step.
  virtual void on_start() {}
  // Called from any thread: the procedure is to end soon.
  virtual void on_cancel() noexcept {}
  // Calls the handler with the outcome, on `executor`: now, if this runs there. `self` is the last
  // reference to the operation.
  virtual void complete(Where where, const boost::asio::any_io_executor& executor,
                        std::shared_ptr<Operation> self) = 0;
  // Destroys the handler uncalled.
  virtual void drop() noexcept = 0;
  // Called when it has ended and the outcome is not wanted.
  virtual void on_unwanted() noexcept {}

 private:
  friend class Presence;
  class Resume;

  // An exception of the handler passes to the caller that runs the executor.
  void go_on(Where where);
  // Takes steps; returns true at the end. Otherwise it belongs to others from here on, and may be
  // destroyed.
  [[nodiscard]] bool advance() noexcept;
  // Returns true if the answer is there already.
  [[nodiscard]] bool ask() noexcept;
  void ask_directly() noexcept;
  void ask_here() noexcept;
  [[nodiscard]] bool fall_asleep() noexcept;
  template <class T>
  [[nodiscard]] auto take_answer();

  void resume(Where where);
  void take_wake_up() noexcept;
  // Wakes the operation; call it under mutex_.
  void wake() noexcept;
  void continue_in_pool() noexcept;
  void finish(Where where);

  // Called when the context of the executor ends.
  void abandon() noexcept;
  // Called when a posted function is destroyed without having run.
  void dropped() noexcept;

  void run_in_pool() noexcept override;
  void on_time() noexcept override;

  const std::shared_ptr<EngineRoom> room_;
  std::shared_ptr<Operation> self_;  // until its end

  // The step under way: these belong to the thread that takes it.
  locks::steps::Step step_{};
  locks::steps::Answer answer_{};

  // Recursive, because an executor may destroy a posted function at once.
  std::recursive_mutex mutex_;
  // Protected by mutex_.
  boost::asio::any_io_executor executor_;  // empty in the background
  Presence* presence_ = nullptr;
  bool background_ = false;
  bool counted_ = false;  // by the room, as in the background
  bool asleep_ = false;
  bool posted_ = false;       // to the executor
  bool was_dropped_ = false;  // by the executor: its context is about to end
  bool rung_ = false;
  bool time_has_come_ = false;
  bool to_ask_ = false;  // the pool's task: true to ask the store, false to continue

  // Used by Presence.
  Operation* previous_ = nullptr;
  Operation* next_ = nullptr;
};

}  // namespace holdfast::async::internal
