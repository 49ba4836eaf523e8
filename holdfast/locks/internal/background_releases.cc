#include <holdfast/locks/internal/background_releases.h>

#include <algorithm>
#include <exception>
#include <utility>

#include <holdfast/base/clock.h>

namespace holdfast::locks::internal {

namespace {

constexpr base::Duration kPatience = std::chrono::seconds(1);
// After a request that the store did not answer.
constexpr base::Duration kPause = std::chrono::milliseconds(100);

}  // namespace

BackgroundReleases::~BackgroundReleases() {
  stop();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void BackgroundReleases::add(std::string_view name, const base::LeaseId& id,
                             base::Duration lasts) noexcept {
  try {
    const std::lock_guard guard(mutex_);
    if (stopped_) {
      return;
    }
    if (claims_.size() == kMost) {
      claims_.pop_front();
    }
    claims_.push_back({std::string(name), id, base::Deadline::after(base::steady_clock(), lasts)});
    if (!thread_.joinable()) {
      thread_ = std::thread([this] { run(); });
    }
    changed_.notify_one();
  } catch (const std::exception&) {
    // No memory, or no thread: the lease runs out by itself, as after a crash.
    return;
  }
}

void BackgroundReleases::stop() noexcept {
  const std::lock_guard guard(mutex_);
  stopped_ = true;
  changed_.notify_one();
}

void BackgroundReleases::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || !claims_.empty(); });
    if (stopped_) {
      return;
    }
    Claim claim = std::move(claims_.front());
    claims_.pop_front();
    lock.unlock();
    const bool is_done = release(claim);
    lock.lock();
    if (!is_done && claims_.size() < kMost) {
      claims_.push_back(std::move(claim));
      changed_.wait_for(lock, kPause, [this] { return stopped_; });
    }
  }
}

bool BackgroundReleases::release(const Claim& claim) {
  const base::Duration left = claim.until.remaining(base::steady_clock().now());
  if (left <= base::Duration::zero()) {
    return true;  // it has run out
  }
  try {
    const auto released =
        store_.release(claim.name, claim.id,
                       base::Deadline::after(base::steady_clock(), std::min(left, kPatience)));
    return released || (released.error().code != base::ErrorCode::unavailable &&
                        released.error().code != base::ErrorCode::unknown_outcome);
  } catch (const std::exception&) {
    return true;
  }
}

}  // namespace holdfast::locks::internal
