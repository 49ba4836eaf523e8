// Submissions, and the thread that leads for them.

#include <chrono>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <holdfast/engines/redis/internal/connection.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;
using base::MutexLock;
using base::Result;

constexpr const char* kClosed = "the connection was closed";

base::TimePoint now() noexcept { return base::steady_clock().now(); }

}  // namespace

void Connection::submit(Command command, base::Deadline deadline, Submission::Callback callback) {
  if (auto ours = check_process(); !ours) {
    callback(std::unexpected(std::move(ours).error()));
    return;
  }
  MutexLock lock(mutex_);
  catch_up();
  if (auto started = start_driver(); !started) {
    hand_over();
    notify_finished();
    lock.unlock();
    callback(std::unexpected(std::move(started).error()));
    return;
  }
  const auto place = submissions_.emplace(
      deadline.when(),
      std::make_unique<Submission>(std::move(command), driver_, deadline, std::move(callback)));
  place->second->place = place;
  const bool is_first_to_end = place == submissions_.begin();
  enter({&place->second->call, 1}, driver_);
  if (is_first_to_end) {
    driver_wake_.notify_one();
    if (leader_ == &driver_ && leader_sleeps_) {
      waker_.wake();  // it would sleep too long
    }
  }
}

Result<void> Connection::start_driver() {
  if (is_closing_) {  // from the callback of another
    return base::fail(ErrorCode::unavailable, kClosed);
  }
  if (!driver_thread_.joinable()) {
    try {
      driver_thread_ = std::thread([this] { drive(); });
    } catch (const std::system_error& error) {
      return base::fail(ErrorCode::unavailable, std::string("there is no thread: ") + error.what());
    }
  }
  return {};
}

void Connection::drive() noexcept {
  const MutexLock lock(mutex_);
  while (!is_closing_) {
    expire_submissions();
    if (is_closing_) {
      break;
    }
    if (leader_ == &driver_) {
      lead(driver_);
      leader_ = nullptr;
      hand_over();
      notify_finished();
    } else if (next_deadline().is_never()) {
      driver_wake_.wait(mutex_);
    } else {
      // A deadline is of base::steady_clock(), which counts as the standard's does.
      driver_wake_.wait_until(
          mutex_, std::chrono::steady_clock::time_point(next_deadline().when().time_since_epoch()));
    }
  }
}

base::Deadline Connection::next_deadline() const {
  return submissions_.empty() ? base::Deadline::never()
                              : base::Deadline::at(submissions_.begin()->first);
}

void Connection::expire_submissions() {
  const base::TimePoint time = now();
  while (!submissions_.empty() && submissions_.begin()->second->call.deadline.expired(time)) {
    give_up(submissions_.begin()->second->call);
  }
  notify_finished();
}

void Connection::close() {
  route_->stop_notifying();
  std::thread driver;
  {
    const MutexLock lock(mutex_);
    is_closing_ = true;
    driver = std::move(driver_thread_);
  }
  if (!driver.joinable()) {
    return;
  }
  driver_wake_.notify_one();
  waker_.wake();
  driver.join();
  const MutexLock lock(mutex_);
  while (!submissions_.empty()) {
    give_up(submissions_.begin()->second->call);
    finished_.submissions.back()->call.error->message = kClosed;
  }
  if (leader_ == &driver_) {
    leader_ = nullptr;
  }
  hand_over();
  notify_finished();
}

}  // namespace holdfast::engines::redis::internal
