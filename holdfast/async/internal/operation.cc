#include <holdfast/async/internal/operation.h>

#include <algorithm>
#include <exception>
#include <utility>

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

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
    case Step::Kind::renew:  // the provider's own thread does that
    case Step::Kind::watch:
    case Step::Kind::wait:
    case Step::Kind::done: break;
  }
  return {};
}

bool gives_back(const Step& step) {
  return step.kind == Step::Kind::transfer || step.kind == Step::Kind::release || step.gives_back;
}

}  // namespace

// The function that is posted to the executor. The operation may be taken from it, and end, before
// the executor runs or destroys it.
class Operation::Resume {
 public:
  explicit Resume(const std::shared_ptr<Operation>& operation) noexcept : operation_(operation) {}

  void operator()() {
    if (Operation* const operation = take()) {
      operation->resume(Where::executor);
    }
  }

 private:
  [[nodiscard]] Operation* take() const noexcept {
    const auto operation = operation_.lock();
    if (operation == nullptr) {
      return nullptr;
    }
    const base::MutexLock lock(operation->mutex_);
    return operation->is_in_front() ? operation.get() : nullptr;
  }

  std::weak_ptr<Operation> operation_;
};

Operation::~Operation() = default;

void Operation::start(std::shared_ptr<Operation> operation, asio::any_io_executor executor) {
  Operation& it = *operation;
  it.context_ = ContextMembers::of(executor);
  {
    const base::MutexLock lock(it.mutex_);
    it.executor_ = asio::prefer(std::move(executor), asio::execution::outstanding_work.tracked);
  }
  it.self_ = std::move(operation);
  it.context_->add(it);
  it.step_ = it.procedure().start();
  it.advance(Where::initiation);
}

void Operation::start_in_background(std::shared_ptr<Operation> operation) {
  Operation& it = *operation;
  it.room_->background->begin();
  it.self_ = std::move(operation);
  it.step_ = it.procedure().start();
  it.advance(Where::background);
}

void Operation::cancel() noexcept {
  procedure().cancel();
  wake();
}

void Operation::advance(Where where) {
  while (step_.kind != Step::Kind::done) {
    if (!(step_.kind == Step::Kind::wait ? fall_asleep() : ask())) {
      return;
    }
    step_ = procedure().on(std::move(answer_));
  }
  finish(where);
}

bool Operation::ask() noexcept {
  if (room_->way == EngineRoom::Way::at_once) {
    ask_here();
    return true;
  }
  {
    const base::MutexLock lock(mutex_);
    state_ = State::asking;
  }
  if (room_->way == EngineRoom::Way::direct && step_.kind != Step::Kind::watch) {
    ask_directly();
    return false;
  }
  if (gives_back(step_)) {
    room_->pool.post(*this);
    return false;
  }
  if (room_->pool.try_post(*this)) {
    return false;
  }
  const base::MutexLock lock(mutex_);
  state_ = State::stepping;
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
    on_answer();
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
    case Step::Kind::renew:
    case Step::Kind::watch:
    case Step::Kind::wait:
    case Step::Kind::done: break;
  }
}

void Operation::on_answer() noexcept {
  const base::MutexLock lock(mutex_);
  post_next_step();
}

bool Operation::fall_asleep() noexcept {
  if (step_.until != base::TimePoint::max()) {
    room_->timer.set(*this, step_.until);
  }
  {
    const base::MutexLock lock(mutex_);
    if (wakeup_ == Wakeup::none) {
      state_ = State::asleep;
      return false;
    }
  }
  room_->timer.cancel(*this);
  const base::MutexLock lock(mutex_);
  answer_ = Woken{std::exchange(wakeup_, Wakeup::none) == Wakeup::call};
  return true;
}

void Operation::on_wakeup(Wakeup why) noexcept {
  const base::MutexLock lock(mutex_);
  wakeup_ = std::max(wakeup_, why);
  if (state_ == State::asleep) {
    post_next_step();
  }
}

void Operation::post_next_step() noexcept {
  state_ = State::posted;
  if (is_in_front()) {
    asio::post(executor_, Resume(self_));
  } else {
    room_->pool.post(*this);
  }
}

void Operation::resume(Where where) {
  const bool was_waiting = step_.kind == Step::Kind::wait;
  if (was_waiting) {
    room_->timer.cancel(*this);
  }
  {
    // In any case, so that the waking thread has left before the operation can end.
    const base::MutexLock lock(mutex_);
    state_ = State::stepping;
    if (was_waiting) {
      answer_ = Woken{std::exchange(wakeup_, Wakeup::none) == Wakeup::call};
    }
  }
  step_ = procedure().on(std::move(answer_));
  advance(where);
}

void Operation::run_in_pool() noexcept {
  bool is_to_ask = false;
  {
    const base::MutexLock lock(mutex_);
    is_to_ask = state_ == State::asking;
  }
  if (is_to_ask) {
    ask_here();
    on_answer();
  } else {
    resume(Where::background);
  }
}

void Operation::finish(Where where) {
  // Does not keep the room beyond the operation: a caller of wait_for_background may destroy its
  // clock.
  const std::shared_ptr<Background> background = room_->background;
  std::shared_ptr<Operation> self = std::move(self_);
  asio::any_io_executor executor;
  {
    const base::MutexLock lock(mutex_);
    executor = std::move(executor_);
  }
  if (executor) {
    context_->remove(*this);
    complete(where, executor, std::move(self));
    return;
  }
  on_unwanted();
  self.reset();
  background->end();
}

void Operation::drop() noexcept {
  asio::any_io_executor gone;
  const std::shared_ptr<Operation> self = self_;
  procedure().cancel();
  {
    const base::MutexLock lock(mutex_);
    gone = std::move(executor_);
    room_->background->begin();
    wakeup_ = Wakeup::call;
    if (state_ == State::asleep || state_ == State::posted) {
      post_next_step();
    }
  }
  drop_handler();
}

}  // namespace holdfast::async::internal
