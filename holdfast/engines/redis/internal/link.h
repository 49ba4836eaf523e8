#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/link/command.h>
#include <holdfast/engines/redis/internal/link/reply.h>
#include <holdfast/engines/redis/redis_options.h>

namespace holdfast::engines::redis::internal {

class LinkCore;
enum class OnSilence : std::uint8_t;

// What a link has done so far, and does.
struct LinkCounters {
  std::uint64_t commands = 0;  // that were sent, those that were joined each
  std::uint64_t writes = 0;    // system calls that carried them
  std::uint64_t reads = 0;     // system calls that brought replies
  std::uint64_t connects = 0;  // connections that were made
  std::uint64_t pending = 0;   // commands that wait or are under way at this moment
};

// One connection to a Redis server, shared by any number of threads.
//
// Thread-safe. For callers it has no thread of its own: of those that wait, one leads: it sends
// what the others have put in line, reads, and hands each its reply; when it has its own, another
// leads. So a lone caller writes and reads itself, and one system call carries the commands of
// many. Of the calls that stand in line together, those that may be are joined to one command
// (see bundle.h); that of a call for which nothing was done there is sent again by itself.
//
// A call blocks until its reply, its deadline (of base::steady_clock()), or the loss of the
// connection. A lost connection is made anew by the next call: at once after the first failure,
// then with a growing, jittered pause, for which a call waits if its deadline allows.
//
// A connection is given up when the server owes a reply for longer than reply_timeout, when a call
// reaches its deadline and nothing was heard since it was sent (unless other calls still wait; see
// OnSilence), and when the server says that it takes no commands now (see fitness.h): a call that
// is told so is sent once more, over a new connection. Errors:
//
//   unavailable      not sent, so nothing has changed: no connection, or the deadline came first
//   unknown_outcome  sent, and no reply came by the deadline, or the connection broke
//   limit_exceeded   not sent: max_pending commands are waiting already
//   unsupported      this process was forked from the one that opened the link
//
// A reply that says "error" is a value. A call that leaves by its deadline leaves its place in line
// behind, and the late reply is thrown away. Commands of one thread reach the server in order.
//
// `submit` does not block: a thread, which the first such command starts, leads where no caller
// does. Its answer is called back once, by any thread, and with the errors above; a callback is
// quick and may submit again.
//
// A forked child may destroy what it inherited, which closes nothing of the parent's.
//
//   Link link(options);
//   auto reply = link.call(Command("GET", key), Deadline::after(base::steady_clock(), 1s));
class Link {
 public:
  // Does not connect yet.
  explicit Link(RedisOptions options);
  // Connects, so that a wrong address or password is told at once.
  [[nodiscard]] static base::Result<std::unique_ptr<Link>> open(RedisOptions options);
  // No call may be running.
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // ErrorCode::unsupported in a forked child.
  [[nodiscard]] base::Result<void> check_process() const;
  [[nodiscard]] base::Result<Reply> call(const Command& command, base::Deadline deadline);
  // All in one go, replies in the order of the commands. Not a transaction: commands of others may
  // come in between.
  [[nodiscard]] std::vector<base::Result<Reply>> call_all(std::span<const Command> commands,
                                                          base::Deadline deadline,
                                                          OnSilence on_silence = OnSilence{});

  // Calls back, maybe before it returns.
  void submit(Command command, base::Deadline deadline,
              std::function<void(base::Result<Reply> reply)> callback);

  // Before the first call: `callback` is called when the server says that it takes no commands now.
  // It may be called by any thread, and must neither block nor call the link.
  void on_unfit(std::function<void()> callback);

  // Answers what was submitted, and refuses what is from now on. Calls go on.
  void close();

  [[nodiscard]] const RedisOptions& options() const noexcept;
  [[nodiscard]] LinkCounters counters() const;

 private:
  std::unique_ptr<LinkCore> core_;
};

}  // namespace holdfast::engines::redis::internal
