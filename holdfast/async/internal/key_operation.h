#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <holdfast/async/internal/handler_traits.h>
#include <holdfast/async/internal/key_error.h>
#include <holdfast/async/internal/key_table.h>
#include <holdfast/async/internal/wait_limits.h>
#include <holdfast/async/key_guard.h>

namespace holdfast::async::internal {

// A waiting lock operation: its handler, its limits, and its position in the queue, in one
// allocation of the handler's memory.
//
// It lives until its completion has run on the handler's executor, because only there may the
// cancellation slot be cleared. Two references exist: that of the queue, which is passed to the
// completion, and that of the timer. The last one to arrive on the executor calls the handler; if
// one was dropped with its execution context, the handler is dropped too.
template <KeyMode kMode, class Wait, class Handler>
class KeyOperation final : public KeyWaiter {
 public:
  static void start(KeyTable& table, std::string_view key, Handler&& handler, const Wait& how) {
    Reference operation = make(table, KeyTable::hash(key), std::move(handler));
    operation->prepare(how);
    KeyOperation& waiter = operation.give_to_queue();
    table.wait(waiter, key);
  }

  void resume() noexcept override {
    // A copy: the operation may complete and be destroyed before post() returns.
    const Executor executor = work_.get_executor();
    asio::post(executor, Completion{allocator_of(handler_), Reference(this)});
  }

  void drop() noexcept override { const Reference dropped(this); }

 private:
  using Executor = asio::associated_executor_t<Handler>;
  using HandlersAllocator = HandlerAllocator<Handler>;
  using Allocator =
      typename std::allocator_traits<HandlersAllocator>::template rebind_alloc<KeyOperation>;
  using Traits = std::allocator_traits<Allocator>;

  class Reference {
   public:
    explicit Reference(KeyOperation* operation) noexcept : operation_(operation) {}
    Reference(Reference&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {}
    Reference& operator=(Reference&&) = delete;
    ~Reference() {
      if (operation_ != nullptr && operation_->is_last_reference()) operation_->destroy();
    }

    KeyOperation& operator*() const noexcept { return *operation_; }
    KeyOperation* operator->() const noexcept { return operation_; }
    KeyOperation& give_to_queue() noexcept { return *std::exchange(operation_, nullptr); }

    // Runs on the executor: completes the operation unless the other reference has yet to arrive.
    void arrive() {
      KeyOperation* const operation = std::exchange(operation_, nullptr);
      if (!operation->is_last_reference()) return;
      if (operation->is_completed_) {
        operation->deliver();
      } else {
        operation->destroy();
      }
    }

   private:
    KeyOperation* operation_;
  };

  // A function that runs on the executor, in the handler's memory.
  struct OnExecutor {
    using allocator_type = HandlersAllocator;  // NOLINT(readability-identifier-naming)
    allocator_type get_allocator() const noexcept { return allocator; }

    [[no_unique_address]] HandlersAllocator allocator;
    Reference operation;
  };
  struct Completion : OnExecutor {
    void operator()() {
      this->operation->is_completed_ = true;
      this->operation->limits_.cancel_timer();
      this->operation.arrive();
    }
  };
  struct Expiry : OnExecutor {
    void operator()(const boost::system::error_code& error) {
      KeyWaiter& waiter = *this->operation;
      if (!error) waiter.table.cancel(waiter, KeyOutcome::timed_out);
      this->operation.arrive();
    }
  };

  KeyOperation(KeyTable& its_table, std::size_t its_hash, Handler&& handler)
      : KeyWaiter(its_table, its_hash, kMode),
        work_(asio::get_associated_executor(handler)),
        handler_(std::move(handler)) {}
  // Unlocks a key that was granted but not delivered.
  ~KeyOperation() { take_guard().unlock(); }

  static Reference make(KeyTable& its_table, std::size_t its_hash, Handler&& handler) {
    Allocator allocator(allocator_of(handler));
    const auto free = [&](KeyOperation* memory) { Traits::deallocate(allocator, memory, 1); };
    std::unique_ptr<KeyOperation, decltype(free)> memory(Traits::allocate(allocator, 1), free);
    Reference made(new (memory.get()) KeyOperation(its_table, its_hash, std::move(handler)));
    memory.release();
    return made;
  }

  // From here on any thread may end the wait, even before it has begun.
  void prepare(const Wait& how) {
    ContextMembers* const members = ContextMembers::of(work_.get_executor());
    auto slot = asio::get_associated_cancellation_slot(handler_);
    if (slot.is_connected()) {
      slot.template emplace<AbortWait>(AbortWait{this});
    }
    try {
      limits_.start_timer(work_.get_executor(), how, [&](auto& timer) {
        references_.store(2, std::memory_order_relaxed);
        timer.async_wait(asio::bind_executor(work_.get_executor(),
                                             Expiry{allocator_of(handler_), Reference(this)}));
      });
    } catch (...) {
      if (slot.is_connected()) slot.clear();
      throw;
    }
    limits_.listen(how, *this);
    if (members != nullptr) {
      context = members;
      members->add(*this);
    }
  }

  [[nodiscard]] bool is_last_reference() noexcept {
    return references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  [[nodiscard]] BasicKeyGuard<kMode> take_guard() noexcept {
    if (outcome != KeyOutcome::entered) return {};
    return KeyGuards::make<kMode>(table, std::exchange(entry, nullptr));
  }

  void deliver() {
    auto slot = asio::get_associated_cancellation_slot(handler_);
    if (slot.is_connected()) slot.clear();
    const boost::system::error_code error = to_error(outcome);
    BasicKeyGuard<kMode> guard = take_guard();
    // The memory is freed before the handler runs: it may need as much again.
    const Allocator allocator(allocator_of(handler_));
    Handler handler(std::move(handler_));
    destroy(allocator);
    std::move(handler)(error, std::move(guard));
  }

  void destroy() noexcept { destroy(Allocator(allocator_of(handler_))); }
  void destroy(Allocator allocator) noexcept {
    this->~KeyOperation();
    Traits::deallocate(allocator, this, 1);
  }

  asio::executor_work_guard<Executor> work_;
  Handler handler_;
  WaitLimits<Wait, Executor> limits_;
  std::atomic<int> references_{1};
  bool is_completed_ = false;  // belongs to the last one to arrive
};

}  // namespace holdfast::async::internal
