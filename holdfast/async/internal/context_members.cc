#include <holdfast/async/internal/context_members.h>

#include <holdfast/async/internal/key_table.h>

namespace holdfast::async::internal {

boost::asio::execution_context::id ContextMembers::id;

void ContextMembers::add(ContextMember& member) {
  const std::lock_guard guard(mutex_);
  members_.push_back(member);
}

void ContextMembers::remove(ContextMember& member) noexcept {
  const std::lock_guard guard(mutex_);
  members_.erase(member);
}

void ContextMembers::begin_resuming(ContextMember& member) noexcept {
  const std::lock_guard guard(mutex_);
  members_.erase(member);
  ++resuming_;
}

void ContextMembers::end_resuming() noexcept {
  const std::lock_guard guard(mutex_);
  --resuming_;
  left_.notify_all();
}

void ContextMembers::shutdown() noexcept {
  if (process_.is_inherited()) {
    return;
  }
  std::unique_lock lock(mutex_);
  while (ContextMember* const member = members_.front()) {
    WaiterQueue let_in;
    if (!member->withdraw(let_in)) {
      left_.wait(lock, [&] { return members_.front() != member; });
      continue;
    }
    members_.erase(*member);
    lock.unlock();
    KeyTable::finish_all(let_in);
    member->drop();
    lock.lock();
  }
  left_.wait(lock, [&] { return resuming_ == 0; });
}

}  // namespace holdfast::async::internal
