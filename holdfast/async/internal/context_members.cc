#include <holdfast/async/internal/context_members.h>

#include <holdfast/async/internal/key_table.h>

namespace holdfast::async::internal {

boost::asio::execution_context::id ContextMembers::id;

void ContextMembers::add(ContextMember& member) {
  const base::MutexLock lock(mutex_);
  members_.push_back(member);
}

void ContextMembers::remove(ContextMember& member) noexcept {
  const base::MutexLock lock(mutex_);
  members_.erase(member);
}

void ContextMembers::begin_resuming(ContextMember& member) noexcept {
  const base::MutexLock lock(mutex_);
  members_.erase(member);
  ++resuming_;
}

void ContextMembers::end_resuming() noexcept {
  const base::MutexLock lock(mutex_);
  --resuming_;
  left_.notify_all();
}

void ContextMembers::shutdown() noexcept {
  if (process_.is_inherited()) {
    return;
  }
  base::MutexLock lock(mutex_);
  while (ContextMember* const member = members_.front()) {
    WaiterQueue let_in;
    if (!member->withdraw(let_in)) {
      while (members_.front() == member) {
        left_.wait(mutex_);
      }
      continue;
    }
    members_.erase(*member);
    lock.unlock();
    KeyTable::finish_all(let_in);
    member->drop();
    lock.lock();
  }
  while (resuming_ > 0) {
    left_.wait(mutex_);
  }
}

}  // namespace holdfast::async::internal
