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

// Drives one procedure without blocking, a step at a time: on an executor for somebody who waits
// for its end, or in the background, on the pool, for nobody.
//
//   in front     its steps are taken on the executor; its end calls the handler
//   abandoned    the executor's context ends first: the handler is destroyed uncalled, and the
//                procedure is cancelled and goes on in the background, until it has given back
//                whatever it has
//   background   from the beginning, or since it was abandoned
//
// It keeps itself alive until its end. Between two steps it belongs to whoever is to wake it: the
// store's answer, its Ringer, or the alarm, of which the first one counts.
class Operation : public locks::steps::Ringer, private BlockingPool::Task, private Alarm::Sleeper {
 public:
  ~Operation() override;

  // The first step is taken at once, in the calling thread; the handler is not called from here.
  static void start(std::shared_ptr<Operation> operation, boost::asio::any_io_executor executor);
  static void start_in_background(std::shared_ptr<Operation> operation);

  // From any thread.
  void cancel() noexcept;
  void ring() noexcept override;

 protected:
  // In which thread something happens.
  enum class Where : std::uint8_t { initiation, executor, background };

  explicit Operation(std::shared_ptr<EngineRoom> room) noexcept : room_(std::move(room)) {}

  [[nodiscard]] const std::shared_ptr<EngineRoom>& room() const noexcept { return room_; }
  [[nodiscard]] virtual locks::steps::Procedure& procedure() noexcept = 0;
  // Before the first step.
  virtual void on_start() {}
  // From any thread: the procedure is to end soon.
  virtual void on_cancel() noexcept {}
  // Calls the handler with the outcome, on `executor`: now, if this runs there. `self` is the last
  // to keep the operation.
  virtual void complete(Where where, const boost::asio::any_io_executor& executor,
                        std::shared_ptr<Operation> self) = 0;
  // Destroys the handler uncalled.
  virtual void drop() noexcept = 0;
  // It has ended, and nobody wants the outcome.
  virtual void on_unwanted() noexcept {}

 private:
  friend class Presence;
  class Resume;

  // What the handler throws goes on to whoever runs the executor.
  void go_on(Where where);
  // Takes steps; true at the end. Otherwise it belongs to others from here on, and may be gone.
  [[nodiscard]] bool advance() noexcept;
  // True if the answer is there already.
  [[nodiscard]] bool ask() noexcept;
  void ask_directly() noexcept;
  void ask_here() noexcept;
  [[nodiscard]] bool fall_asleep() noexcept;
  template <class T>
  [[nodiscard]] auto take_answer();

  void resume(Where where);
  void take_wake_up() noexcept;
  // Whoever was to wake it does so; under mutex_.
  void wake() noexcept;
  void continue_in_pool() noexcept;
  void finish(Where where);

  // The context of the executor ends.
  void abandon() noexcept;
  // What was posted to the executor is destroyed without having run.
  void dropped() noexcept;

  void run_in_pool() noexcept override;
  void on_time() noexcept override;

  const std::shared_ptr<EngineRoom> room_;
  std::shared_ptr<Operation> self_;  // until its end

  // Of the step under way: they belong to whoever takes it.
  locks::steps::Step step_{};
  locks::steps::Answer answer_{};

  // Recursive, because an executor may destroy what is posted to it on the spot.
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
  bool to_ask_ = false;  // what the pool is to do: ask the store, else go on

  // Presence's.
  Operation* previous_ = nullptr;
  Operation* next_ = nullptr;
};

}  // namespace holdfast::async::internal
