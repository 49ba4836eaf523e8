#include <holdfast/async/internal/operation.h>

#include <exception>
#include <utility>

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <holdfast/async/internal/presence.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/steps/run_blocking.h>
#include <holdfast/store/async_lease_store.h>

namespace holdfast::async::internal {

namespace asio = boost::asio;

namespace {

using base::ErrorCode;
using base::Result;
using locks::steps::Answer;
using locks::steps::Step;
using locks::steps::Woken;

// Returns the failure as an answer to any kind of request.
Answer failed(const Step& step, ErrorCode code, const char* message) {
  switch (step.kind) {
    case Step::Kind::claim: return Result<store::ClaimOutcome>(base::fail(code, message));
    case Step::Kind::transfer: return Result<store::TransferOutcome>(base::fail(code, message));
    case Step::Kind::release: return Result<store::ReleaseOutcome>(base::fail(code, message));
    case Step::Kind::hit: return Result<store::HitOutcome>(base::fail(code, message));
    case Step::Kind::look:
      return Result<std::optional<store::NameState>>(base::fail(code, message));
    case Step::Kind::watch:
    case Step::Kind::wait:
    case Step::Kind::done: break;
  }
  return {};
}

bool gives_back(const Step& step) {
  return step.kind == Step::Kind::transfer || step.kind == Step::Kind::release;
}

}  // namespace

// The function that is posted to the executor. If it is destroyed without having run, it reports
// that.
class Operation::Resume {
 public:
  explicit Resume(Operation& operation) noexcept : operation_(&operation) {}
  Resume(Resume&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {}
  Resume& operator=(Resume&&) = delete;
  ~Resume() {
    if (operation_ != nullptr && !operation_->room_->is_inherited()) {
      operation_->dropped();
    }
  }

  void operator()() { std::exchange(operation_, nullptr)->resume(Where::executor); }

 private:
  Operation* operation_;
};

Operation::~Operation() = default;

void Operation::start(std::shared_ptr<Operation> operation, asio::any_io_executor executor) {
  Operation& it = *operation;
  Presence& presence = Presence::of(executor);
  it.executor_ = asio::prefer(std::move(executor), asio::execution::outstanding_work.tracked);
  it.presence_ = &presence;
  it.self_ = std::move(operation);
  presence.add(it);
  it.on_start();
  it.step_ = it.procedure().start();
  it.go_on(Where::initiation);
}

void Operation::start_in_background(std::shared_ptr<Operation> operation) {
  Operation& it = *operation;
  it.background_ = it.counted_ = true;
  it.room_->background->begin();
  it.self_ = std::move(operation);
  it.on_start();
  it.step_ = it.procedure().start();
  it.go_on(Where::background);
}

void Operation::cancel() noexcept {
  on_cancel();
  ring();
}

void Operation::go_on(Where where) {
  if (advance()) {
    finish(where);
  }
}

bool Operation::advance() noexcept {
  while (step_.kind != Step::Kind::done) {
    if (!ask()) {
      return false;
    }
    step_ = procedure().on(std::move(answer_));
  }
  return true;
}

bool Operation::ask() noexcept {
  if (step_.kind == Step::Kind::wait) {
    return fall_asleep();
  }
  if (room_->way == EngineRoom::Way::at_once) {
    ask_here();
    return true;
  }
  if (room_->way == EngineRoom::Way::direct && step_.kind != Step::Kind::watch) {
    ask_directly();
    return false;
  }
  to_ask_ = true;
  if (gives_back(step_)) {
    room_->pool.post(*this);
    return false;
  }
  if (room_->pool.try_post(*this)) {
    return false;
  }
  answer_ = failed(step_, ErrorCode::limit_exceeded,
                   "too many requests wait for a thread that asks the store: raise "
                   "AsyncOptions::pool_queue or pool_threads");
  return true;
}

void Operation::ask_here() noexcept {
  try {
    if (step_.kind == Step::Kind::watch) {
      procedure().watch();
      answer_ = Answer();
    } else {
      answer_ = locks::steps::ask(room_->store, step_);
    }
  } catch (const std::exception& error) {
    answer_ = failed(step_, ErrorCode::internal, error.what());
  } catch (...) {
    answer_ = failed(step_, ErrorCode::internal, "the store threw something unknown");
  }
}

template <class T>
auto Operation::take_answer() {
  return [this](Result<T> outcome) {
    answer_ = std::move(outcome);
    const std::lock_guard guard(mutex_);
    wake();
  };
}

void Operation::ask_directly() noexcept {
  // Keeps the store alive until the call returns: the operation may end first, and with it the last
  // reference to the store. Not the room, which no caller would then wait for.
  const std::shared_ptr<const void> owner = room_->owner;
  store::AsyncLeaseStore& direct = *room_->direct;
  const Step step = step_;  // the operation may end before the call returns
  switch (step.kind) {
    case Step::Kind::claim:
      direct.claim(step.name, *step.claim, step.deadline, take_answer<store::ClaimOutcome>());
      break;
    case Step::Kind::transfer:
      direct.transfer(step.name, step.id, *step.claim, step.deadline,
                      take_answer<store::TransferOutcome>());
      break;
    case Step::Kind::release:
      direct.release(step.name, step.id, step.deadline, take_answer<store::ReleaseOutcome>());
      break;
    case Step::Kind::hit:
      direct.hit(step.name, *step.hit, step.deadline, take_answer<store::HitOutcome>());
      break;
    case Step::Kind::look:
      direct.look(step.name, step.deadline, take_answer<std::optional<store::NameState>>());
      break;
    case Step::Kind::watch:
    case Step::Kind::wait:
    case Step::Kind::done: break;
  }
}

bool Operation::fall_asleep() noexcept {
  if (step_.until != base::TimePoint::max()) {
    room_->alarm.set(*this, step_.until);
  }
  {
    const std::lock_guard guard(mutex_);
    if (!rung_ && !time_has_come_) {
      asleep_ = true;
      return false;
    }
  }
  room_->alarm.cancel(*this);
  const std::lock_guard guard(mutex_);
  time_has_come_ = false;
  answer_ = Woken{std::exchange(rung_, false)};
  return true;
}

void Operation::resume(Where where) {
  take_wake_up();
  go_on(where);
}

void Operation::take_wake_up() noexcept {
  if (step_.kind == Step::Kind::wait) {
    room_->alarm.cancel(*this);
  }
  {
    // In any case, so that the waking thread has left before the operation can end.
    const std::lock_guard guard(mutex_);
    posted_ = false;
    if (step_.kind == Step::Kind::wait) {
      time_has_come_ = false;
      answer_ = Woken{std::exchange(rung_, false)};
    }
  }
  step_ = procedure().on(std::move(answer_));
}

void Operation::ring() noexcept {
  const std::lock_guard guard(mutex_);
  rung_ = true;
  if (std::exchange(asleep_, false)) {
    wake();
  }
}

void Operation::on_time() noexcept {
  const std::lock_guard guard(mutex_);
  time_has_come_ = true;
  if (std::exchange(asleep_, false)) {
    wake();
  }
}

void Operation::wake() noexcept {
  if (background_) {
    continue_in_pool();
  } else {
    posted_ = true;
    asio::post(executor_, Resume(*this));
  }
}

void Operation::continue_in_pool() noexcept {
  if (!std::exchange(counted_, true)) {
    room_->background->begin();
  }
  to_ask_ = false;
  room_->pool.post(*this);
}

void Operation::run_in_pool() noexcept {
  if (!to_ask_) {
    resume(Where::background);
    return;
  }
  ask_here();
  const std::lock_guard guard(mutex_);
  wake();
}

void Operation::finish(Where where) {
  // Does not keep the room beyond the operation: a caller of wait_for_background may destroy its
  // clock.
  const std::shared_ptr<Background> background = room_->background;
  std::shared_ptr<Operation> self = std::move(self_);
  bool is_counted = false;
  asio::any_io_executor executor;
  {
    const std::lock_guard guard(mutex_);
    is_counted = counted_;
    if (!background_) {
      presence_->remove(*this);
      executor = std::move(executor_);
    }
  }
  if (executor) {
    complete(where, executor, std::move(self));
    return;
  }
  on_unwanted();
  self.reset();
  if (is_counted) {
    background->end();
  }
}

void Operation::abandon() noexcept {
  asio::any_io_executor gone;
  std::shared_ptr<Operation> self;
  {
    const std::lock_guard guard(mutex_);
    self = self_;
    background_ = true;
    gone = std::move(executor_);
    on_cancel();
    rung_ = true;
    if (std::exchange(asleep_, false) || std::exchange(was_dropped_, false)) {
      continue_in_pool();
    } else if (!posted_ && !std::exchange(counted_, true)) {
      // A request is under way. A posted function counts when it is dropped: the thread that
      // destroys it may be the one that waits.
      room_->background->begin();
    }
  }
  drop();
}

// Leaves the handler to `abandon`: this may run under the mutex of the thread that woke the
// operation.
void Operation::dropped() noexcept {
  const std::lock_guard guard(mutex_);
  if (background_) {
    continue_in_pool();
  } else {
    was_dropped_ = true;
  }
}

}  // namespace holdfast::async::internal
