#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/connection/command.h>
#include <holdfast/engines/redis/internal/connection/parking.h>
#include <holdfast/engines/redis/internal/connection/reply.h>

namespace holdfast::engines::redis::internal {

struct Call;
struct Submission;

// The fate of the connection when a call's deadline comes and nothing was received since it was
// sent.
enum class OnSilence : std::uint8_t {
  wait,       // others may be more patient: it ends only if no other call waits on it
  reconnect,  // it ends: what the caller tries next must not be sent to a dead server
};

// A thread that waits for its calls. All members are protected by the connection's mutex;
// `deadline` and `parking` are also the thread's own.
struct Caller {
  base::Deadline deadline = base::Deadline::never();
  OnSilence on_silence = OnSilence::wait;
  std::span<Call> calls{};
  std::size_t unfinished = 0;
  std::size_t bytes = 0;  // of all replies
  Parking parking{};
};

// One command, from the queue to its reply.
struct Call {
  // Constant after construction.
  const Command* command;
  Caller* caller;  // the connection's driver, if nobody waits
  base::Deadline deadline;
  Submission* submission = nullptr;  // to which it belongs, if nobody waits

  // Protected by the connection's mutex; the caller reads the result when all its calls are
  // finished.
  bool may_join = false;    // with those of others: see command.h
  bool was_joined = false;  // the last time that it was sent
  bool sends_text = false;  // of its script, which the server does not know
  bool was_unfit = false;   // the server: the command is sent again once
  bool is_finished = false;
  Reply reply{};
  std::optional<base::Error> error{};

  // Belongs to Line or Flight.
  Call* previous = nullptr;
  Call* next = nullptr;
  std::optional<std::uint64_t> ticket{};  // while it is under way
};

// Returns the reply of a finished call, or why there is none. What the server refuses is an error.
[[nodiscard]] base::Result<Reply> take_result(Call& call);

// A command for which nobody waits: its answer is called back.
struct Submission {
  using Callback = std::function<void(base::Result<Reply> reply)>;
  using ByDeadline = std::multimap<base::TimePoint, std::unique_ptr<Submission>>;

  Submission(Command its_command, Caller& driver, base::Deadline deadline, Callback its_callback)
      : command(std::move(its_command)),
        callback(std::move(its_callback)),
        call{.command = &command, .caller = &driver, .deadline = deadline, .submission = this} {}
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  const Command command;
  const Callback callback;
  Call call;
  ByDeadline::iterator place{};  // while it is not finished
};

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
  struct Place {
    Call* call = nullptr;   // null once it has left
    std::size_t bytes = 0;  // of the command
    base::TimePoint sent{};
    std::size_t joined = 1;  // with those that follow: see command.h
  };

  [[nodiscard]] bool empty() const noexcept { return places_.empty(); }
  // The place whose reply comes next. Not if empty().
  [[nodiscard]] const Place& front() const noexcept { return places_.front(); }
  // Returns the newest call that has not left, or null.
  [[nodiscard]] Call* newest() const noexcept;

  // Calls that were sent as one command.
  void push_back(std::span<Call* const> calls, base::TimePoint sent);
  // Returns when the call was sent.
  base::TimePoint leave(Call& call) noexcept;
  // Takes the oldest out.
  Place pop_front() noexcept;

 private:
  std::deque<Place> places_;
  std::uint64_t first_ticket_ = 0;
};

}  // namespace holdfast::engines::redis::internal
