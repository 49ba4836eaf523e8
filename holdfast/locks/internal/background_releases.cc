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
  // Without the mutex, which the thread needs to end: after `stop` no other one is started.
  if (thread_.joinable()) {
    thread_.join();
  }
}

void BackgroundReleases::add(std::string_view name, const base::LeaseId& id,
                             base::Duration lasts) noexcept {
  try {
    const base::MutexLock lock(mutex_);
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
  const base::MutexLock lock(mutex_);
  stopped_ = true;
  changed_.notify_one();
}

void BackgroundReleases::run() {
  base::MutexLock lock(mutex_);
  for (;;) {
    while (!stopped_ && claims_.empty()) {
      changed_.wait(mutex_);
    }
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
      pause();
    }
  }
}

void BackgroundReleases::pause() {
  const auto until = std::chrono::steady_clock::now() + kPause;
  while (!stopped_ && changed_.wait_until(mutex_, until) == std::cv_status::no_timeout) {
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
