// How a link serves commands for which no caller waits: with a thread, started by the first of
// them, which leads as a caller does while there are any, and keeps their deadlines while others
// lead.

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include <holdfast/engines/redis/internal/link/link_core.h>
#include <holdfast/engines/redis/internal/link/wire_socket.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;

constexpr const char* kClosed = "the link was closed";

base::TimePoint now() noexcept { return base::steady_clock().now(); }

}  // namespace

void LinkCore::close() {
  Guard guard(mutex_);
  closing_ = true;
  if (!driver_.joinable()) {
    return;
  }
  guard.unlock();
  driver_wake_.notify_one();
  doorbell_.ring();
  driver_.join();
  guard.lock();
  while (!submissions_.empty()) {
    Submission& submission = *submissions_.begin()->second;
    give_up(submission.call);
    submission.call.error->message = kClosed;
    finish(submission.call);
  }
  if (leader_ == &driver_call_) {
    leader_ = nullptr;
  }
  const std::vector<Submission*> answered = std::exchange(answered_, {});
  hand_over(guard);
  if (guard.owns_lock()) {
    guard.unlock();
  }
  call_back(answered);
}

void LinkCore::refuse(std::unique_ptr<Submission> submission, base::Error error, Guard& guard) {
  submission->call.error = std::move(error);
  hand_over(guard);
  if (guard.owns_lock()) {
    guard.unlock();
  }
  submission->answer();
}

void LinkCore::submit(std::unique_ptr<Submission> submission) {
  Guard guard(mutex_);
  Call& call = submission->call;
  if (closing_) {  // from the callback of another
    refuse(std::move(submission), {ErrorCode::unavailable, kClosed}, guard);
    return;
  }
  if (!has_place_for(call, guard)) {
    refuse(std::move(submission), too_many(), guard);
    return;
  }
  if (!driver_.joinable()) {
    try {
      driver_ = std::thread([this] { drive(); });
    } catch (const std::system_error& error) {
      refuse(std::move(submission),
             {ErrorCode::unavailable, std::string("there is no thread: ") + error.what()}, guard);
      return;
    }
  }
  pending_ += load_of(call);
  line_.push_back(call);
  Submission& kept = *submission.release();  // until it is answered
  kept.place = submissions_.emplace(call.deadline.when(), &kept);
  const bool is_first_to_end = *kept.place == submissions_.begin();
  const bool has_leader = leader_ != nullptr;
  if (!has_leader) {
    leader_ = &driver_call_;
  }
  if (!has_leader || leader_sleeps_ || has_enough_in_line()) {
    write(guard);
  }
  if (!has_leader || is_first_to_end) {
    driver_wake_.notify_one();
  }
  if (is_first_to_end && leader_ == &driver_call_ && leader_sleeps_) {
    doorbell_.ring();  // it would sleep too long
  }
}

void LinkCore::drive() noexcept {
  Guard guard(mutex_);
  while (!closing_) {
    expire(guard);
    if (closing_) {
      break;
    }
    if (leader_ == &driver_call_) {
      lead_for_submissions(guard);
    } else if (submissions_.empty() || submissions_.begin()->first == base::TimePoint::max()) {
      driver_wake_.wait(guard);
    } else {
      // A deadline is of base::steady_clock(), which counts as the standard's does.
      driver_wake_.wait_until(guard, std::chrono::steady_clock::time_point(
                                         submissions_.begin()->first.time_since_epoch()));
    }
  }
}

void LinkCore::lead_for_submissions(Guard& guard) noexcept {
  rest_ = Rest::none;
  while (!submissions_.empty() && !closing_) {
    driver_call_.deadline = base::Deadline::at(submissions_.begin()->first);
    if (connection_ == nullptr) {
      reconnect_for_submissions(guard);
    } else {
      const bool has_read = read(guard);
      if (connection_ == nullptr || submissions_.empty()) {
        continue;
      }
      const bool has_written = write(guard);
      if (has_read || has_written || connection_ == nullptr || connection_->write_error) {
        rest_ = Rest::none;
      } else {
        rest(driver_call_, guard);
      }
    }
    expire(guard);
  }
  leader_ = nullptr;
  hand_over(guard);
  if (!guard.owns_lock()) {
    guard.lock();
  }
}

void LinkCore::reconnect_for_submissions(Guard& guard) {
  const base::TimePoint time = now();
  if (time >= next_attempt_) {
    connect(driver_call_.deadline, guard);
    return;
  }
  // Who cannot wait for the next attempt is told at once.
  while (!submissions_.empty() && submissions_.begin()->first < next_attempt_) {
    Submission& submission = *submissions_.begin()->second;
    line_.remove(submission.call);
    pending_ -= load_of(submission.call);
    submission.call.error = too_early(time);
    finish(submission.call);
  }
  wake_all(guard);
  if (submissions_.empty() || closing_) {
    return;
  }
  leader_sleeps_ = true;
  guard.unlock();
  std::array<pollfd, 1> bell{pollfd{.fd = doorbell_.descriptor(), .events = POLLIN, .revents = 0}};
  if (poll_until(bell, base::Deadline::at(next_attempt_)) && bell[0].revents != 0) {
    doorbell_.clear();
  }
  guard.lock();
  leader_sleeps_ = false;
}

void LinkCore::expire(Guard& guard) {
  const base::TimePoint time = now();
  while (!submissions_.empty() && submissions_.begin()->second->call.deadline.expired(time)) {
    Submission& submission = *submissions_.begin()->second;
    give_up(submission.call);
    finish(submission.call);
  }
  wake_all(guard);
}

void LinkCore::take_out(Submission& submission) {
  submissions_.erase(*submission.place);
  submission.place.reset();
  answered_.push_back(&submission);
}

void LinkCore::call_back(const std::vector<Submission*>& answered) {
  for (Submission* const submission : answered) {
    submission->answer();
    delete submission;
  }
}

}  // namespace holdfast::engines::redis::internal
