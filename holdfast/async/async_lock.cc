#include <holdfast/async/async_lock.h>

namespace holdfast::async {

AsyncLock& AsyncLock::operator=(AsyncLock&& other) noexcept {
  if (this != &other) {
    const AsyncLock old(std::move(*this));
    room_ = std::move(other.room_);
    lock_ = std::move(other.lock_);
  }
  return *this;
}

AsyncLock::~AsyncLock() {
  if (lock_.released() || room_->is_inherited() || lock_.on_destroy() == locks::OnDestroy::keep) {
    return;
  }
  try {
    internal::release_in_background(room_, std::move(lock_));
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // Without memory for the background, the handle itself releases the lock.
  }
}

}  // namespace holdfast::async
