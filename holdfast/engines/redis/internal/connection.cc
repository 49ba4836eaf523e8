// The callers of a connection that block: how a call comes in, who leads, and how it ends.

#include <holdfast/engines/redis/internal/connection.h>

#include <algorithm>
#include <thread>
#include <utility>

#include <holdfast/base/try.h>
#include <holdfast/engines/redis/internal/connection/wire.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;
using base::MutexLock;
using base::Result;

base::TimePoint now() noexcept { return base::steady_clock().now(); }

}  // namespace

Connection::Connection(RedisOptions options)
    : options_(std::move(options)),
      route_(route_to(options_)),
      server_(server_address(options_)),
      spin_(std::thread::hardware_concurrency() > 1 ? SpinBudget::Cores::several
                                                    : SpinBudget::Cores::one) {
  route_->notify([this](const std::string& address) { move_to(address); });
}

Result<void> Connection::check_process() const {
  if (process_.is_inherited()) {
    return base::fail(
        ErrorCode::unsupported,
        "this connection belongs to the process that this one was forked from; open another");
  }
  return {};
}

ConnectionCounters Connection::counters() const {
  const MutexLock lock(mutex_);
  ConnectionCounters counters = counters_;
  counters.pending = pending_;
  return counters;
}

Result<Reply> Connection::call(const Command& command, base::Deadline deadline) {
  HOLDFAST_TRY(check_process());
  Caller caller{.deadline = deadline};
  Call call{.command = &command,
            .caller = &caller,
            .deadline = deadline,
            .may_join = command.is_joinable()};
  caller.calls = {&call, 1};
  {
    const MutexLock lock(mutex_);
    catch_up();
    enter(caller.calls, caller);
  }
  wait(caller);
  return take_result(call);
}

std::vector<Result<Reply>> Connection::call_all(std::span<const Command> commands,
                                                base::Deadline deadline, OnSilence on_silence) {
  if (const auto ours = check_process(); !ours) {
    return std::vector<Result<Reply>>(commands.size(), std::unexpected(ours.error()));
  }
  if (commands.empty()) {
    return {};
  }
  Caller caller{.deadline = deadline, .on_silence = on_silence};
  std::vector<Call> calls;
  calls.reserve(commands.size());
  for (const Command& command : commands) {
    calls.push_back({.command = &command, .caller = &caller, .deadline = deadline});
  }
  caller.calls = calls;
  {
    const MutexLock lock(mutex_);
    catch_up();
    enter(calls, caller);
  }
  wait(caller);
  std::vector<Result<Reply>> results;
  results.reserve(calls.size());
  for (Call& call : calls) {
    results.push_back(take_result(call));
  }
  return results;
}

void Connection::catch_up() noexcept {
  if (leader_ == nullptr && transport_ != nullptr) {
    leader_ = &entering_;
    read();
    leader_ = nullptr;
  }
}

void Connection::enter(std::span<Call> calls, Caller& caller) noexcept {
  lot_.enter(caller.parking);
  caller.unfinished += calls.size();
  if (!has_place_for(calls)) {
    for (Call& call : calls) {
      call.error = {ErrorCode::limit_exceeded,
                    "too many commands, or too large ones, are waiting for the Redis server at " +
                        server_ + "; see the options max_pending and max_pending_bytes"};
      finish(call);
    }
    hand_over();
    notify_finished();
    return;
  }
  for (Call& call : calls) {
    ++pending_;
    pending_bytes_ += call.command->bytes().size();
    line_.push_back(call);
  }
  if (leader_ == nullptr) {
    appoint(caller);
  }
  const bool is_late = calls.front().deadline.expired(now());
  if (!is_late && (leader_ == &caller || leader_sleeps_ || has_enough_in_line())) {
    write();
  }
}

bool Connection::has_place_for(std::span<const Call> calls) const {
  std::size_t bytes = 0;
  for (const Call& call : calls) {
    bytes += call.command->bytes().size();
  }
  const auto fits = [](std::size_t more, std::size_t used, std::size_t most) {
    return more <= most - std::min(used, most);
  };
  // A single call may have any size: its caller holds the bytes anyway.
  return fits(calls.size(), pending_, options_.max_pending) &&
         (pending_ == 0 || fits(bytes, pending_bytes_, options_.max_pending_bytes));
}

void Connection::wait(Caller& caller) noexcept {
  if (lot_.wait(caller.parking, caller.deadline) == Parking::Word::done) {
    return;
  }
  MutexLock lock(mutex_);
  if (leader_ == &caller) {
    lead(caller);
    leader_ = nullptr;
  }
  for (Call& call : caller.calls) {
    if (!call.is_finished) {
      give_up(call);
    }
  }
  hand_over();
  const Finished finished = std::exchange(finished_, {});
  lock.unlock();
  notify(finished);
}

void Connection::lead(Caller& me) {
  rest_ = Rest::none;
  while (has_to_lead(me)) {
    if (transport_ == nullptr) {
      reconnect(me);
      continue;
    }
    const bool has_read = read();
    if (is_served(me) || transport_ == nullptr) {
      continue;
    }
    const bool has_written = write();
    if (has_read || has_written || transport_->write_error) {
      rest_ = Rest::none;
    } else if (!spin(me)) {
      sleep(std::min(me.deadline, base::Deadline::at(overdue_at())));
    }
  }
}

bool Connection::is_served(const Caller& me) const {
  return me.unfinished == 0 || (&me == &driver_ && is_closing_);
}

bool Connection::has_to_lead(Caller& me) {
  if (&me == &driver_) {
    expire_submissions();
    me.deadline = next_deadline();
  }
  return !is_served(me) && !me.deadline.expired(now());
}

void Connection::appoint(Caller& caller) {
  leader_ = &caller;
  if (&caller == &driver_) {
    driver_wake_.notify_one();
  } else {
    ParkingLot::tell(caller.parking, Parking::Word::lead, finished_.sleepers);
  }
}

void Connection::hand_over() {
  if (leader_ != nullptr) {
    return;
  }
  Call* next = transport_ != nullptr ? line_.back() : most_patient();
  if (next == nullptr) {
    next = flight_.newest();
  }
  if (next != nullptr) {
    appoint(*next->caller);
  }
}

// To connect takes time: leaders who leave before would keep everybody waiting.
Call* Connection::most_patient() const {
  Call* found = line_.front();
  for (Call* call = found; call != nullptr; call = call->next) {
    if (call->deadline > found->deadline) {
      found = call;
    }
  }
  return found;
}

void Connection::give_up(Call& call) {
  if (call.ticket) {
    suspect(*call.caller, flight_.leave(call));
    call.error = {ErrorCode::unknown_outcome,
                  "the Redis server at " + server_ +
                      " did not answer by the deadline; it may have done what was asked"};
    finish(call);
    return;
  }
  std::string why = "the deadline came before the Redis server at " + server_ + " could be asked";
  if (transport_ == nullptr && !last_failure_.empty()) {
    why += "; the last attempt to connect: " + last_failure_;
  }
  fail_in_line(call, {ErrorCode::unavailable, std::move(why)});
}

void Connection::fail_in_line(Call& call, base::Error error) {
  line_.remove(call);
  --pending_;
  pending_bytes_ -= call.command->bytes().size();
  call.error = std::move(error);
  finish(call);
}

// A caller that is not the leader may be gone once all its calls are finished.
void Connection::finish(Call& call) {
  call.is_finished = true;
  Caller& caller = *call.caller;
  --caller.unfinished;
  if (call.submission != nullptr) {
    const auto place = call.submission->place;
    finished_.submissions.push_back(std::move(place->second));
    submissions_.erase(place);
  } else if (caller.unfinished == 0 && &caller != leader_) {
    ParkingLot::tell(caller.parking, Parking::Word::done, finished_.sleepers);
  }
}

void Connection::notify_finished() {
  if (finished_.sleepers.empty() && finished_.submissions.empty()) {
    return;
  }
  {
    const Finished finished = std::exchange(finished_, {});
    mutex_.unlock();
    notify(finished);
    // Its callbacks end here, before the mutex is locked: what they have captured may call us.
  }
  mutex_.lock();
}

void Connection::notify(const Finished& finished) {
  lot_.wake(finished.sleepers);
  for (const auto& submission : finished.submissions) {
    submission->callback(take_result(submission->call));
  }
}

}  // namespace holdfast::engines::redis::internal
