#include <holdfast/async/internal/waiting_room.h>

#include <holdfast/async/internal/key_table.h>

namespace holdfast::async::internal {

boost::asio::execution_context::id WaitingRoom::id;

WaitingRoom& WaitingRoom::of(boost::asio::execution_context& context) {
  return boost::asio::use_service<WaitingRoom>(context);
}

void WaitingRoom::enter(KeyWaiter& waiter) {
  const std::lock_guard lock(mutex_);
  waiter.room = this;
  waiters_.push_back(waiter);
}

void WaitingRoom::resume(KeyWaiter& waiter) noexcept {
  {
    const std::lock_guard lock(mutex_);
    waiters_.erase(waiter);
    ++resuming_;
  }
  waiter.resume();
  const std::lock_guard lock(mutex_);
  --resuming_;
  left_.notify_all();
}

void WaitingRoom::shutdown() noexcept {
  std::unique_lock lock(mutex_);
  for (KeyWaiter* waiter = waiters_.front(); waiter != nullptr; waiter = waiters_.front()) {
    WaiterQueue decided;
    if (!waiter->table.withdraw(*waiter, decided)) {
      // Another thread has decided this waiter, and will resume it in a moment.
      left_.wait(lock, [&] { return waiters_.front() != waiter; });
      continue;
    }
    waiters_.erase(*waiter);
    lock.unlock();
    KeyTable::finish_all(decided);
    waiter->drop();
    lock.lock();
  }
  left_.wait(lock, [&] { return resuming_ == 0; });
}

}  // namespace holdfast::async::internal
