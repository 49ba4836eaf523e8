#include <holdfast/async/marker.h>

#include <exception>

#include <holdfast/base/try.h>

namespace holdfast::async {

AsyncMark::AsyncMark(std::shared_ptr<internal::EngineRoom> room, recipes::MarkGuard guard)
    : room_(std::move(room)),
      guard_(guard ? std::make_shared<recipes::MarkGuard>(std::move(guard)) : nullptr) {}

AsyncMark& AsyncMark::operator=(AsyncMark&& other) noexcept {
  if (this != &other) {
    const AsyncMark old(std::move(*this));
    room_ = std::move(other.room_);
    guard_ = std::move(other.guard_);
  }
  return *this;
}

AsyncMark::~AsyncMark() {
  if (guard_ == nullptr || room_->is_inherited()) {
    return;
  }
  try {
    // The last owner of the guard clears the mark: this work, or an operation that is under way.
    internal::run_in_background(room_, [guard = std::exchange(guard_, nullptr)] {});
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // Without memory for the background, the guard clears the mark here.
  }
}

void AsyncMark::keep() noexcept {
  if (guard_ != nullptr) {
    guard_->keep();
    guard_ = nullptr;
  }
}

AsyncMarker::AsyncMarker(const AsyncLockProvider& provider, recipes::MarkerOptions options)
    : room_(provider.room()),
      marker_(std::make_shared<recipes::Marker>(provider.blocking(), std::move(options))) {}

base::Result<std::optional<AsyncMark>> AsyncMarker::try_mark_blocking(
    const std::shared_ptr<internal::EngineRoom>& room, recipes::Marker& marker,
    const std::string& key, base::Ttl ttl) {
  HOLDFAST_TRY_LET(auto guard, marker.try_mark(key, ttl));
  if (!guard) {
    return std::nullopt;
  }
  return AsyncMark(room, *std::move(guard));
}

}  // namespace holdfast::async
