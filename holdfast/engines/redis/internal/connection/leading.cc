// The work of a connection's leader: it reads and delivers replies, writes what is in the queue,
// spins and sleeps.

#include <sched.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <holdfast/engines/redis/internal/connection.h>
#include <holdfast/engines/redis/internal/connection/server_errors.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;

// The number of commands that are sent by themselves after most of a joined command had to be sent
// again; then joining is tried again.
constexpr std::size_t kAloneAfterFailure = 256;

// The most commands that are joined: more hardly cost less, and later callers do not wait long
// behind them.
constexpr std::size_t kMostJoined = 16;

// All replies to one caller together.
constexpr std::size_t kMostReplyBytes = ReplyLimits{}.bytes;

// One write carries no more than this, so that what comes later does not wait behind much.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 18U;

// A caller that writes for others stops after so many writes: it has a deadline of its own.
constexpr int kMostRounds = 4;

// Longer than a near server takes for a script.
constexpr base::Duration kSpin = std::chrono::microseconds(100);

base::TimePoint now() noexcept { return base::steady_clock().now(); }

}  // namespace

bool Connection::read() {
  const TransportPtr transport = transport_;
  mutex_.unlock();
  const base::Result<bool> got = transport->read(arrived_);
  mutex_.lock();
  const bool has_come = got && *got;
  if (has_come) {
    if (transport->has_progressed()) {
      transport->heard = now();
      transport->suspect = false;
    }
    ++counters_.reads;
    if (rest_ == Rest::spinning) {
      spin_.succeeded();
    }
  }
  deliver_all();
  if (!got) {
    drop_connection(got.error());
  } else if (!has_come && transport->write_error) {
    drop_connection(*transport->write_error);
  } else {
    drop_if_useless(*transport);
  }
  notify_finished();
  return has_come;
}

void Connection::deliver_all() {
  for (Reply& reply : arrived_) {
    if (flight_.empty()) {
      drop_connection({ErrorCode::unavailable, "it sent a reply that nobody had asked for"});
      break;
    }
    if (is_unfit(reply)) {
      transport_->unfit = true;
      on_unfit_();
    } else {
      transport_->has_answered = true;
    }
    const std::size_t joined = flight_.front().joined;
    if (joined == 1) {
      deliver(std::move(reply));
      continue;
    }
    // An error is for all of them: the server refuses a script before it has written anything.
    std::vector<Reply> parts = reply.take_elements();
    if (parts.size() != joined) {
      parts.assign(joined, Reply());
    }
    if (std::ranges::count_if(parts, &Reply::is_nil) > std::ssize(parts) / 2) {
      transport_->alone = kAloneAfterFailure;
    }
    for (Reply& part : parts) {
      deliver(std::move(part));
    }
  }
  arrived_.clear();
}

void Connection::deliver(Reply reply) {
  const Flight::Place place = flight_.pop_front();
  if (place.call != nullptr && wants_again(*place.call, reply)) {
    line_.push_back(*place.call);
    return;
  }
  --pending_;
  pending_bytes_ -= place.bytes;
  if (place.call == nullptr) {
    return;
  }
  Caller& caller = *place.call->caller;
  caller.bytes += reply.wire_size();
  const bool is_too_much =
      &caller != &driver_ && caller.unfinished > 1 && caller.bytes > kMostReplyBytes;
  place.call->reply = std::move(reply);
  finish(*place.call);
  if (is_too_much) {
    drop_connection({ErrorCode::unavailable, "it answers with more than any call asks for"});
  }
}

bool Connection::wants_again(Call& call, const Reply& reply) {
  if (call.was_joined && reply.is_nil()) {
    call.may_join = false;
    return true;
  }
  if (reply.is_error(server_error::kNoScript) && call.command->has_text()) {
    call.may_join = false;
    return !std::exchange(call.sends_text, true);
  }
  return is_unfit(reply) && !std::exchange(call.was_unfit, true);
}

bool Connection::write() noexcept {
  const TransportPtr transport = transport_;
  if (transport == nullptr || transport->writing || transport->write_error) {
    return false;
  }
  transport->writing = true;
  bool has_room = true;
  bool has_moved = false;
  // The leader may give up the connection meanwhile; then what is in the queue is not for this one.
  for (int round = 0; round < kMostRounds && has_room && transport == transport_; ++round) {
    fill(*transport);
    if (transport->unsent().empty()) {
      break;
    }
    mutex_.unlock();
    const base::Result<std::size_t> sent = transport->wire().write(transport->unsent());
    mutex_.lock();
    ++counters_.writes;
    if (!sent) {
      transport->write_error = sent.error();
      break;
    }
    transport->add_sent(*sent);
    has_room = *sent > 0;
    has_moved = has_moved || has_room;
  }
  transport->writing = false;
  // The rest is for the leader, who wakes at once when there is room.
  transport->needs_room = !has_room || !transport->unsent().empty() ||
                          (transport == transport_ && !transport->unfit && !transport->is_left &&
                           line_.front() != nullptr);
  if (leader_sleeps_ && (transport->needs_room || transport->write_error)) {
    waker_.wake();
  }
  return has_moved;
}

void Connection::fill(Transport& transport) {
  if (line_.front() == nullptr || transport.unfit || transport.is_left) {
    return;
  }
  const base::TimePoint sent = now();
  while (line_.front() != nullptr && transport.to_send().size() < kMostAtOnce) {
    Call* const call = line_.front();
    line_.remove(*call);
    ++counters_.commands;
    if (call->may_join && transport.alone == 0) {
      join(*call, transport, sent);
      continue;
    }
    transport.alone -= call->may_join ? 1 : 0;
    send({&call, 1}, transport, sent);
  }
  for (std::vector<Call*>& calls : joined_) {
    send(calls, transport, sent);
    calls.clear();
  }
}

// Callers do not mind who of them is served first; each has one command on its way.
void Connection::join(Call& call, Transport& transport, base::TimePoint sent) {
  auto place = std::ranges::find_if(joined_, [&](const std::vector<Call*>& calls) {
    return !calls.empty() && may_be_joined(*calls.front()->command, *call.command);
  });
  if (place == joined_.end()) {
    place = std::ranges::find_if(joined_, &std::vector<Call*>::empty);
  }
  std::vector<Call*>& calls = place != joined_.end() ? *place : joined_.emplace_back();
  calls.push_back(&call);
  if (calls.size() == kMostJoined) {
    send(calls, transport, sent);
    calls.clear();
  }
}

void Connection::send(std::span<Call* const> calls, Transport& transport, base::TimePoint sent) {
  if (calls.empty()) {
    return;
  }
  const Call& first = *calls.front();
  if (calls.size() > 1) {
    std::array<const Command*, kMostJoined> commands{};
    std::ranges::transform(calls, commands.begin(), &Call::command);
    append_joined(std::span(commands).first(calls.size()), transport.to_send());
  } else if (first.sends_text) {
    transport.to_send() += first.command->with_text().bytes();
  } else {
    transport.to_send() += first.command->bytes();
  }
  flight_.push_back(calls, sent);
}

bool Connection::spin(const Caller& me) {
  const base::TimePoint time = now();
  if (rest_ == Rest::none) {
    spin_until_ = time + kSpin;
    rest_ = spin_.should_spin() ? Rest::spinning : Rest::spent;
  }
  if (rest_ == Rest::spinning && time >= spin_until_) {
    spin_.failed();
    rest_ = Rest::spent;
  }
  if (rest_ == Rest::spent) {
    return false;
  }
  if (pending_ > me.unfinished) {  // others are about to put their next commands in the queue
    mutex_.unlock();
    ::sched_yield();
    mutex_.lock();
  }
  return true;
}

void Connection::sleep(base::Deadline deadline) {
  if (leader_ == &driver_) {  // a submission may have come while the mutex was open
    deadline = std::min(deadline, next_deadline());
  }
  const TransportPtr transport = transport_;
  const bool needs_room = transport != nullptr && transport->needs_room;
  leader_sleeps_ = true;
  mutex_.unlock();
  waker_.sleep(transport != nullptr ? &transport->wire() : nullptr, needs_room ? POLLOUT : 0,
               deadline);
  mutex_.lock();
  leader_sleeps_ = false;
}

}  // namespace holdfast::engines::redis::internal
