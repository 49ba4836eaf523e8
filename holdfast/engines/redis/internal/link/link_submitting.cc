// How a link serves commands for which no caller waits: with a thread, started by the first of
// them, which leads as a caller does while there are any, and keeps their deadlines while others
// lead.

#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include <holdfast/engines/redis/internal/link/link_core.h>

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
  waker_.wake();
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
    waker_.wake();  // it would sleep too long
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
      lead(driver_call_, guard);
      if (!guard.owns_lock()) {
        guard.lock();
      }
    } else if (next_deadline().is_never()) {
      driver_wake_.wait(guard);
    } else {
      // A deadline is of base::steady_clock(), which counts as the standard's does.
      driver_wake_.wait_until(
          guard, std::chrono::steady_clock::time_point(next_deadline().when().time_since_epoch()));
    }
  }
}

base::Deadline LinkCore::next_deadline() const noexcept {
  return submissions_.empty() ? base::Deadline::never()
                              : base::Deadline::at(submissions_.begin()->first);
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
