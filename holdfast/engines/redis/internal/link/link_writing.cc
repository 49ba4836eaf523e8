// How what stands in line is written to the server.

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <holdfast/engines/redis/internal/link/bundle.h>
#include <holdfast/engines/redis/internal/link/link_core.h>

namespace holdfast::engines::redis::internal {

namespace {

// One write carries no more than this, so that what comes later does not wait behind much.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 18U;

// As many are joined to one command: more hardly cost less, and those who come later do not wait
// long behind them.
constexpr std::size_t kMostJoined = 16;

// A caller that writes for others stops after so many writes: it has a deadline of its own.
constexpr int kMostRounds = 4;

base::TimePoint now() noexcept { return base::steady_clock().now(); }

}  // namespace

bool LinkCore::write(Guard& guard) noexcept {
  const ConnectionPtr connection = connection_;
  if (connection == nullptr || connection->writing || connection->write_error) {
    return false;
  }
  connection->writing = true;
  bool has_room = true;
  bool has_moved = false;
  // The leader may give up the connection meanwhile; then what is in line is not for this one.
  for (int round = 0; round < kMostRounds && has_room && connection == connection_; ++round) {
    fill(*connection);
    if (!connection->has_unsent()) {
      break;
    }
    guard.unlock();
    const base::Result<bool> sent = connection->write();
    guard.lock();
    ++counters_.writes;
    if (!sent) {
      connection->write_error = sent.error();
      break;
    }
    has_room = *sent;
    has_moved = has_moved || has_room;
  }
  connection->writing = false;
  // What is left is for the leader, who wakes at once when there is room.
  connection->needs_room =
      !has_room || connection->has_unsent() ||
      (connection == connection_ && !connection->unfit && line_.front() != nullptr);
  if (leader_sleeps_ && (connection->needs_room || connection->write_error)) {
    waker_.wake();
  }
  return has_moved;
}

void LinkCore::fill(Connection& connection) {
  if (line_.front() == nullptr || connection.unfit) {
    return;
  }
  const base::TimePoint sent = now();
  std::string& unsent = connection.unsent();
  while (line_.front() != nullptr && unsent.size() < kMostAtOnce) {
    Call& call = *line_.front();
    line_.remove(call);
    counters_.commands += call.commands.size();
    if (call.may_join && connection.alone == 0) {
      join(call, connection, sent);
      continue;
    }
    connection.alone -= call.may_join ? 1 : 0;
    for (const Command& command : call.commands) {
      unsent += command.bytes();
    }
    flight_.push_back(call, sent);
  }
  for (std::vector<Call*>& calls : joined_) {
    send_joined(calls, connection, sent);
  }
}

// Callers do not mind who of them is served first; each has one command on its way.
void LinkCore::join(Call& call, Connection& connection, base::TimePoint sent) {
  auto place = std::ranges::find_if(joined_, [&](const std::vector<Call*>& calls) {
    return !calls.empty() && may_be_joined(calls.front()->commands[0], call.commands[0]);
  });
  if (place == joined_.end()) {
    place = std::ranges::find_if(joined_, &std::vector<Call*>::empty);
  }
  std::vector<Call*>& calls = place != joined_.end() ? *place : joined_.emplace_back();
  calls.push_back(&call);
  if (calls.size() == kMostJoined) {
    send_joined(calls, connection, sent);
  }
}

void LinkCore::send_joined(std::vector<Call*>& calls, Connection& connection,
                           base::TimePoint sent) {
  if (calls.size() == 1) {
    connection.unsent() += calls.front()->commands[0].bytes();
    flight_.push_back(*calls.front(), sent);
  } else if (!calls.empty()) {
    std::array<const Command*, kMostJoined> commands{};
    std::ranges::transform(calls, commands.begin(),
                           [](const Call* call) { return &call->commands[0]; });
    for (Call* const call : calls) {
      call->joined = true;
    }
    append_joined(std::span(commands).first(calls.size()), connection.unsent());
    flight_.push_joined(calls, sent);
  }
  calls.clear();
}

}  // namespace holdfast::engines::redis::internal
