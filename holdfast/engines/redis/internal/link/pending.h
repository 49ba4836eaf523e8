#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/link/command.h>
#include <holdfast/engines/redis/internal/link/parking.h>
#include <holdfast/engines/redis/internal/link/reply.h>

namespace holdfast::engines::redis::internal {

struct Submission;

// The commands that wait for the server or are under way to it.
struct Load {
  std::size_t commands = 0;
  std::size_t bytes = 0;

  Load& operator+=(const Load& other) noexcept {
    commands += other.commands;
    bytes += other.bytes;
    return *this;
  }
  Load& operator-=(const Load& other) noexcept {
    commands -= other.commands;
    bytes -= other.bytes;
    return *this;
  }
};

// What becomes of the connection when a call's deadline comes and nothing was heard since it was
// sent.
enum class OnSilence : std::uint8_t {
  wait,       // others may be more patient: it goes only if nobody else waits on it
  reconnect,  // it goes: what the caller tries next must not be sent to a dead server
};

// What one caller asked for: lives on its stack, and stands in line, then is under way.
struct Call {
  // Constant after construction.
  std::span<const Command> commands;
  Reply* replies;  // as many as commands
  base::Deadline deadline;
  Submission* submission = nullptr;  // to which it belongs, if no caller waits
  bool may_join = false;             // its command, with those of others: see bundle.h
  OnSilence on_silence = OnSilence::wait;

  // Written by whoever serves the call, under the link's mutex; the caller reads it afterwards.
  std::size_t received = 0;
  bool finished = false;
  bool joined = false;
  std::optional<base::Error> error{};

  // Belongs to Line or Flight.
  Call* previous = nullptr;
  Call* next = nullptr;
  std::optional<std::uint64_t> ticket{};  // once sent

  Parking parking{};
};

[[nodiscard]] Load load_of(const Call& call) noexcept;

// The calls that were not sent yet, in order. Any of them may leave.
class Line {
 public:
  [[nodiscard]] Call* front() const noexcept { return head_; }
  [[nodiscard]] Call* back() const noexcept { return tail_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void push_back(Call& call) noexcept {
    call.previous = tail_;
    (tail_ != nullptr ? tail_->next : head_) = &call;
    tail_ = &call;
    ++size_;
  }

  void remove(Call& call) noexcept {
    (call.previous != nullptr ? call.previous->next : head_) = call.next;
    (call.next != nullptr ? call.next->previous : tail_) = call.previous;
    call.previous = call.next = nullptr;
    --size_;
  }

 private:
  Call* head_ = nullptr;
  Call* tail_ = nullptr;
  std::size_t size_ = 0;
};

// The calls that were sent, in the order in which their replies will come. One that leaves keeps
// its place, so that its reply is not taken for another's.
class Flight {
 public:
  [[nodiscard]] bool empty() const noexcept { return places_.empty(); }
  // When the oldest was sent.
  [[nodiscard]] base::TimePoint oldest() const noexcept { return places_.front().sent; }

  void push_back(Call& call, base::TimePoint sent);
  // Those that were sent as one command: see bundle.h.
  void push_joined(std::span<Call* const> calls, base::TimePoint sent);
  // How many calls the next reply is for. Not if empty().
  [[nodiscard]] std::size_t joined() const noexcept { return places_.front().joined; }
  void leave(const Call& call) noexcept;
  // When this call was sent, which has not left.
  [[nodiscard]] base::TimePoint sent(const Call& call) const noexcept;

  struct Arrival {
    Load load{};  // that is no longer pending: of a call that is over
    Call* finished = nullptr;
    std::size_t bytes = 0;  // of all replies to that call so far
  };
  // Gives the next reply, or part of it, to the call that it belongs to. Not if empty().
  Arrival deliver(Reply reply);

  // The newest call that has not left, or null.
  [[nodiscard]] Call* newest() const noexcept;

  // Takes the oldest out: its call, null if it has left, and its load.
  struct Removed {
    Call* call = nullptr;
    Load load{};
  };
  Removed pop_front() noexcept;

 private:
  struct Place {
    Call* call = nullptr;  // null once it has left
    Load load{};
    std::size_t received = 0;
    std::size_t bytes = 0;
    base::TimePoint sent{};
    std::size_t joined = 1;  // with those that follow
  };

  std::deque<Place> places_;
  std::uint64_t first_ticket_ = 0;
};

}  // namespace holdfast::engines::redis::internal
