#include "coroutines.h"

namespace holdfast::conformance {

std::unique_ptr<testing::LockFace> Coroutines::face(Lock lock) const {
  return std::make_unique<CoroutineLock>(*this, std::move(lock));
}

CoroutineLock::~CoroutineLock() {
  if (way_) way_->end(std::move(handle()));
}

std::unique_ptr<testing::LockFace> CoroutineLock::move_out() {
  auto moved = std::make_unique<CoroutineLock>();
  moved->handle() = std::move(handle());
  moved->way_ = way_;
  return moved;
}

void CoroutineLock::move_in(LockFace& other) {
  LockFaceOf::move_in(other);
  if (way_) way_->settle();
  way_ = dynamic_cast<CoroutineLock&>(other).way_;
}

base::Result<store::ReleaseOutcome> CoroutineLock::release() {
  return Coroutines::run([this] { return handle().release(); });
}

}  // namespace holdfast::conformance
