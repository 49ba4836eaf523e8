#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/mutex.h>
#include <holdfast/base/process_mark.h>
#include <holdfast/engines/redis/internal/connection/backoff.h>
#include <holdfast/engines/redis/internal/connection/command.h>
#include <holdfast/engines/redis/internal/connection/pending.h>
#include <holdfast/engines/redis/internal/connection/poll_waker.h>
#include <holdfast/engines/redis/internal/connection/reply.h>
#include <holdfast/engines/redis/internal/connection/route.h>
#include <holdfast/engines/redis/internal/connection/spin_budget.h>
#include <holdfast/engines/redis/internal/connection/transport.h>
#include <holdfast/engines/redis/redis_options.h>

namespace holdfast::engines::redis::internal {

// The numbers of the things that a connection has done so far.
struct ConnectionCounters {
  std::uint64_t commands = 0;  // that were sent, those that were joined each
  std::uint64_t writes = 0;    // system calls that carried them
  std::uint64_t reads = 0;     // system calls that brought replies
  std::uint64_t connects = 0;  // connections that were made
  std::uint64_t pending = 0;   // commands that wait or are under way at this moment
};

// One connection to a Redis server, shared by any number of threads.
//
// Thread-safe. For callers it has no thread of its own: one of those that wait leads. The leader
// sends what the others have put in the queue, reads, and hands each its reply; when it has its
// own, another leads. So a lone caller writes and reads itself, and one system call carries the
// commands of many.
//
//   a call comes        it is queued; the first caller leads, the others park
//   the leader works    it writes what is in the queue and reads; if it sleeps in poll() while a
//   call
//                       comes, that caller writes itself and then parks
//   a reply comes       the leader hands it over and wakes its caller; or the call goes back in
//                       line (see `wants_again`)
//   the leader is done  the caller that will have to wait longest leads
//   a deadline comes    a call in the queue goes, one under way leaves its place behind; if nothing
//   was
//                       heard since it was sent, the connection may end with it (OnSilence)
//   the connection ends what is under way is unknown; what is in the queue goes to the next
//   connection the server is unfit nothing more is sent; when all that is under way has come, the
//   connection
//                       ends
//
// A call blocks until its reply, its deadline (of base::steady_clock()), or the loss of the
// connection. A lost connection is made anew by the next call: at once after the first failure,
// then with a growing, jittered pause, for which a call waits if its deadline allows. A server that
// owes a reply for longer than reply_timeout counts as dead. A Route says each time which
// server to connect to; when another one becomes the right one, the connection ends. Errors:
//
//   unavailable      not sent, so nothing has changed: no connection, or the deadline came first
//   unknown_outcome  sent, and no reply came by the deadline, or the connection broke
//   limit_exceeded   not sent: max_pending commands are waiting already
//   unsupported      this process was forked from the one that opened the connection
//   others           the server refuses the command: see server_errors.h
//
// Commands of one thread reach the server in order, but for those that are sent again.
//
// `submit` does not block: a thread, which the first such command starts, leads where no caller
// does. Its answer is called back once, by any thread, and with the errors above; a callback is
// quick and may submit again.
//
// In a forked child every call is refused, and the connection must not be destroyed: a thread that
// the child does not have may have left it in any state.
//
//   Connection connection(options);
//   auto reply = connection.call(Command("GET", key), Deadline::after(base::steady_clock(), 1s));
class Connection {
 public:
  // Does not connect yet.
  explicit Connection(RedisOptions options);
  // No call may be running.
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // ErrorCode::unsupported in a forked child.
  [[nodiscard]] base::Result<void> check_process() const;
  [[nodiscard]] base::Result<Reply> call(const Command& command, base::Deadline deadline);
  // All in one go, replies in the order of the commands. Not a transaction: commands of others may
  // come in between.
  [[nodiscard]] std::vector<base::Result<Reply>> call_all(std::span<const Command> commands,
                                                          base::Deadline deadline,
                                                          OnSilence on_silence = OnSilence::wait);
  // Calls back, maybe before it returns.
  void submit(Command command, base::Deadline deadline, Submission::Callback callback);

  // Before the first call: `callback` is called when the server says that it takes no commands now.
  // It may be called by any thread, and must neither block nor call the connection.
  void on_unfit(std::function<void()> callback) { on_unfit_ = std::move(callback); }
  // Before the first call: `callback` is called with the address of the server that is the right
  // one now. It must neither block nor call the connection.
  void on_move(Route::OnMove callback) { on_move_ = std::move(callback); }

  // Answers what was submitted, and refuses what is from now on; no callback is called any more.
  // Calls go on, over the connection that there is.
  void close();

  // Returns the way to the server, for other connections of the same store.
  [[nodiscard]] const std::shared_ptr<Route>& route() const noexcept { return route_; }

  [[nodiscard]] const RedisOptions& options() const noexcept { return options_; }
  [[nodiscard]] ConnectionCounters counters() const;

 private:
  using TransportPtr = std::shared_ptr<Transport>;

  // The leader's conduct while no reply comes.
  enum class Rest : std::uint8_t { none, spinning, spent };

  // The work that needs the mutex open.
  struct Finished {
    ParkingLot::Sleepers sleepers;
    std::vector<std::unique_ptr<Submission>> submissions;
  };

  // Callers that block: connection.cc. Out of memory ends the process in noexcept functions: a
  // leader or a writer that vanished would leave the others waiting.

  // Reads what has come while nobody led, before a call enters: a connection that has ended is not
  // written to, and late replies make places free. Opens the mutex meanwhile.
  void catch_up() noexcept HOLDFAST_REQUIRES(mutex_);
  // Puts the calls in the queue, and writes them unless the leader will. If nobody leads, the
  // caller does. If there is no place for them, the calls are finished.
  void enter(std::span<Call> calls, Caller& caller) noexcept HOLDFAST_REQUIRES(mutex_);
  // Blocks until the calls of this caller, which has entered, are finished.
  void wait(Caller& caller) noexcept HOLDFAST_EXCLUDES(mutex_);
  [[nodiscard]] bool has_place_for(std::span<const Call> calls) const HOLDFAST_REQUIRES(mutex_);
  // Serves all until `me` is served; the driver until there are no submissions.
  void lead(Caller& me) HOLDFAST_REQUIRES(mutex_);
  [[nodiscard]] bool has_to_lead(Caller& me) HOLDFAST_REQUIRES(mutex_);
  [[nodiscard]] bool is_served(const Caller& me) const HOLDFAST_REQUIRES(mutex_);
  void appoint(Caller& caller) HOLDFAST_REQUIRES(mutex_);
  // Appoints another leader, if somebody waits.
  void hand_over() HOLDFAST_REQUIRES(mutex_);
  [[nodiscard]] Call* most_patient() const HOLDFAST_REQUIRES(mutex_);
  // Finishes the call before its reply has come.
  void give_up(Call& call) HOLDFAST_REQUIRES(mutex_);
  void fail_in_line(Call& call, base::Error error) HOLDFAST_REQUIRES(mutex_);
  void finish(Call& call) HOLDFAST_REQUIRES(mutex_);
  // Opens the mutex meanwhile.
  void notify_finished() HOLDFAST_REQUIRES(mutex_);
  void notify(const Finished& finished) HOLDFAST_EXCLUDES(mutex_);

  // Submissions, and the thread that leads for them: driving.cc.
  [[nodiscard]] base::Result<void> start_driver() HOLDFAST_REQUIRES(mutex_);
  void drive() noexcept HOLDFAST_EXCLUDES(mutex_);
  // Returns the first deadline of a submission; never if there are none.
  [[nodiscard]] base::Deadline next_deadline() const HOLDFAST_REQUIRES(mutex_);
  void expire_submissions() HOLDFAST_REQUIRES(mutex_);

  // The leader's work: leading.cc. read() and write() tell whether something has moved; both
  // open the mutex meanwhile. Other callers write, too, while the leader sleeps.
  bool read() HOLDFAST_REQUIRES(mutex_);
  void deliver_all() HOLDFAST_REQUIRES(mutex_);
  void deliver(Reply reply) HOLDFAST_REQUIRES(mutex_);
  // Returns whether the call is to be sent again, and prepares that: it was joined and nothing was
  // done for it; the server does not know the script; or it takes no commands now, and another may
  // have its address soon.
  [[nodiscard]] static bool wants_again(Call& call, const Reply& reply);
  bool write() noexcept HOLDFAST_REQUIRES(mutex_);
  void fill(Transport& transport) HOLDFAST_REQUIRES(mutex_);
  void join(Call& call, Transport& transport, base::TimePoint sent) HOLDFAST_REQUIRES(mutex_);
  void send(std::span<Call* const> calls, Transport& transport, base::TimePoint sent)
      HOLDFAST_REQUIRES(mutex_);
  [[nodiscard]] bool spin(const Caller& me) HOLDFAST_REQUIRES(mutex_);
  void sleep(base::Deadline deadline) HOLDFAST_REQUIRES(mutex_);
  // Returns whether so many are queued that they are worth a write even if the leader is awake
  // and will come to it: half of all, so that the server works on them while the others are being
  // woken.
  [[nodiscard]] bool has_enough_in_line() const HOLDFAST_REQUIRES(mutex_) {
    return line_.size() >= std::clamp(pending_ / 2, kLeastInLine, kMostInLine);
  }
  static constexpr std::size_t kLeastInLine = 4;
  static constexpr std::size_t kMostInLine = 32;

  // Making and losing the connection: connecting.cc.
  void reconnect(const Caller& me) HOLDFAST_REQUIRES(mutex_);
  void connect(base::Deadline deadline) HOLDFAST_REQUIRES(mutex_);
  // Returns whether an attempt that began then failed for want of time.
  [[nodiscard]] bool was_hurried(base::Deadline deadline, base::TimePoint began) const;
  void pause(const base::Error& error) HOLDFAST_REQUIRES(mutex_);
  void attempt_failed(const base::Error& error) HOLDFAST_REQUIRES(mutex_);
  void drop_connection(const base::Error& error) HOLDFAST_REQUIRES(mutex_);
  void drop_if_useless(const Transport& transport) HOLDFAST_REQUIRES(mutex_);
  // Another server is the right one now; a thread of the route calls it.
  void move_to(const std::string& address) HOLDFAST_EXCLUDES(mutex_);
  // Notes that a call of this caller was sent then, and has left: the connection may be dead.
  void suspect(const Caller& caller, base::TimePoint sent) HOLDFAST_REQUIRES(mutex_);
  [[nodiscard]] base::TimePoint overdue_at() const HOLDFAST_REQUIRES(mutex_);
  [[nodiscard]] base::Error too_early(base::TimePoint time) const HOLDFAST_REQUIRES(mutex_);

  // Constant after construction.
  const RedisOptions options_;
  const base::ProcessMark process_;
  const std::shared_ptr<Route> route_;
  PollWaker waker_;  // rouses the leader from its sleep
  std::function<void()> on_unfit_ = [] {};
  Route::OnMove on_move_ = [](const std::string&) {};

  ParkingLot lot_;
  mutable base::Mutex mutex_;
  Line line_ HOLDFAST_GUARDED_BY(mutex_);
  Flight flight_ HOLDFAST_GUARDED_BY(mutex_);
  std::size_t pending_ HOLDFAST_GUARDED_BY(mutex_) = 0;  // calls in the queue and under way
  std::size_t pending_bytes_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  Caller* leader_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;
  bool leader_sleeps_ HOLDFAST_GUARDED_BY(mutex_) = false;
  TransportPtr transport_ HOLDFAST_GUARDED_BY(mutex_);
  std::string server_ HOLDFAST_GUARDED_BY(mutex_);    // the address of the last one
  std::string moved_to_ HOLDFAST_GUARDED_BY(mutex_);  // since the last attempt to connect began
  Backoff backoff_ HOLDFAST_GUARDED_BY(mutex_);
  base::TimePoint next_attempt_ HOLDFAST_GUARDED_BY(mutex_){};
  std::string last_failure_ HOLDFAST_GUARDED_BY(mutex_);
  ConnectionCounters counters_ HOLDFAST_GUARDED_BY(mutex_);
  bool is_closing_ HOLDFAST_GUARDED_BY(mutex_) = false;
  Finished finished_ HOLDFAST_GUARDED_BY(mutex_);  // and not notified yet
  Caller entering_ HOLDFAST_GUARDED_BY(mutex_){};  // leads for a caller that has not entered yet

  Submission::ByDeadline submissions_ HOLDFAST_GUARDED_BY(mutex_);
  Caller driver_ HOLDFAST_GUARDED_BY(mutex_){};
  base::ConditionVariable driver_wake_;
  std::thread driver_thread_ HOLDFAST_GUARDED_BY(mutex_);

  // The writer's: what may be joined, of each script.
  std::vector<std::vector<Call*>> joined_ HOLDFAST_GUARDED_BY(mutex_);

  // The leader's.
  std::vector<Reply> arrived_;
  SpinBudget spin_ HOLDFAST_GUARDED_BY(mutex_);
  Rest rest_ HOLDFAST_GUARDED_BY(mutex_) = Rest::none;
  base::TimePoint spin_until_ HOLDFAST_GUARDED_BY(mutex_){};
};

}  // namespace holdfast::engines::redis::internal
