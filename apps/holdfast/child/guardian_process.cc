#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <optional>

#include <holdfast/base/saturate.h>

#include "apps/holdfast/child/boot_timer.h"
#include "apps/holdfast/child/guardian_process.h"
#include "apps/holdfast/cli/exit_status.h"

namespace holdfast::cli {

namespace {

using Kind = GuardianReport::Kind;

void report(const GuardianPost& post, Kind kind, int value) {
  const GuardianReport message{.kind = kind, .value = value};
  static_cast<void>(write(post.reports, &message, sizeof message) == sizeof message);
}

void close_from_to(unsigned first, unsigned last) {
  if (first > last || syscall(SYS_close_range, first, last, 0) == 0) {
    return;
  }
  // An old kernel, or a sandbox that does not know the call. The limit may be a billion.
  constexpr rlim_t kMost = rlim_t{1} << 20U;
  rlimit limit{};
  const rlim_t end =
      getrlimit(RLIMIT_NOFILE, &limit) == 0 ? std::min(limit.rlim_cur, kMost) : kMost;
  for (unsigned descriptor = first; descriptor <= last && descriptor < end; ++descriptor) {
    close(static_cast<int>(descriptor));
  }
}

// Closes what it has inherited: a connection or a pipe must not seem to be alive because of it.
void close_all_but(std::array<int, 4> kept) {
  std::ranges::sort(kept);
  unsigned first = 0;
  for (const int descriptor : kept) {
    const auto place = static_cast<unsigned>(descriptor);
    if (first < place) {
      close_from_to(first, place - 1);
    }
    first = place + 1;
  }
  close_from_to(first, ~0U);
}

// Calls `act` with each child of this process, which has one thread, and whether it has ended.
// Children of children become ours when their parents end. Calls nothing where the kernel does not
// list them.
template <class Act>
void for_each_child(const Act& act) {
  const Descriptor list(open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text{};
  const ssize_t size = list.get() < 0 ? 0 : read(list.get(), text.data(), text.size());
  const char* place = text.data();
  const char* const end = text.data() + std::max<ssize_t>(size, 0);
  while (place < end) {
    pid_t id = 0;
    const auto parsed = std::from_chars(place, end, id);
    // A number at the very end may be cut off: the next round has it.
    if (parsed.ec != std::errc() || parsed.ptr == end) {
      return;
    }
    // Where /proc is of another PID namespace, the number means a process that is not ours.
    siginfo_t end_of_it{};
    if (waitid(P_PID, static_cast<id_t>(id), &end_of_it, WEXITED | WNOHANG | WNOWAIT) == 0) {
      act(id, end_of_it.si_pid != 0);
    }
    place = parsed.ptr + 1;
  }
}

class Guard {
 public:
  Guard(const GuardianPost& post, pid_t command, IfOrphaned if_orphaned)
      : post_(post), command_(command), if_orphaned_(if_orphaned) {}

  [[noreturn]] void run() {
    for (;;) {
      look_at_time();
      if (wait_for_something()) {
        take_orders();
      }
      take_signals();
      look_at_children();
    }
  }

 private:
  static base::TimePoint time(const std::atomic<std::int64_t>& from) {
    return base::TimePoint(base::Duration(from.load()));
  }

  void look_at_time() {
    const base::TimePoint now = base::boot_clock().now();
    const base::TimePoint kill_at = std::min(time(post_.board->kill_at), rest_ends_);
    if (now >= kill_at) {
      end_all();
    }
    const base::TimePoint term_at = time(post_.board->term_at);
    if (now >= term_at && !std::exchange(terminated_, true)) {
      // The supervisor has not moved the time: it is stopped.
      signal_group(SIGTERM);
      signal_group(SIGCONT);
    }
    post_.timer->arm(terminated_ ? kill_at : std::min(kill_at, term_at));
  }

  // Returns whether there are orders.
  bool wait_for_something() {
    std::array<pollfd, 3> sources{
        {{.fd = post_.orders, .events = POLLIN, .revents = 0},
         {.fd = post_.signals, .events = POLLIN, .revents = 0},
         {.fd = post_.timer->descriptor(), .events = POLLIN, .revents = 0}}};
    poll(sources.data(), sources.size(), -1);
    return sources[0].revents != 0;
  }

  void take_orders() {
    char order = 0;
    if (read(post_.orders, &order, 1) != 1) {  // the supervisor is dead
      if (if_orphaned_ == IfOrphaned::be_killed) {
        kill_all();
      }
      leave();
    }
    acknowledged_ = true;
    if (post_.board->end_rest && rest_ends_ == base::TimePoint::max()) {
      terminate_rest();
    }
  }

  // A signal for the command's parent is meant for the supervisor.
  void take_signals() {
    signalfd_siginfo info{};
    while (read(post_.signals, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo != SIGCHLD && info.ssi_signo != SIGPIPE) {
        kill(post_.supervisor, static_cast<int>(info.ssi_signo));
      }
    }
  }

  void look_at_children() {
    siginfo_t change{};
    const auto id = static_cast<id_t>(command_);
    if (!status_ && waitid(P_PID, id, &change, WSTOPPED | WNOHANG) == 0 && change.si_pid != 0) {
      report(post_, Kind::stopped, change.si_status);
    }
    if (!status_ && command_has_ended()) {
      end_with_command();
    }
    if (!status_) {
      reap_adopted();
    }
    if (acknowledged_ && !reap()) {
      finish();
    }
  }

  // Does not reap it: until then, it keeps its group's id from being used again, and the supervisor
  // may signal that group as long as it does not know.
  bool command_has_ended() {
    siginfo_t end{};
    const auto id = static_cast<id_t>(command_);
    if (!status_ && waitid(P_PID, id, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid != 0) {
      status_ = end.si_code == CLD_EXITED ? end.si_status : kSignalled + end.si_status;
    }
    return status_.has_value();
  }

  void end_with_command() {
    if (post_.board->ending) {
      end_all();
    }
    if (post_.background == Background::keep) {
      finish();
    }
    if (post_.background == Background::kill) {
      terminate_rest();
    }
    report(post_, Kind::left, 0);
  }

  // Collects daemons that have ended, while the command runs. The command stays: see
  // command_has_ended().
  void reap_adopted() const {
    siginfo_t end{};
    while (waitid(P_ALL, 0, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid != 0 &&
           end.si_pid != command_) {
      waitpid(end.si_pid, nullptr, WNOHANG);
      end = {};
    }
  }

  // Collects children that have ended, the command, too; false if there are none left.
  bool reap() {
    for (;;) {
      siginfo_t end{};
      if (waitid(P_ALL, 0, &end, WEXITED | WNOHANG) != 0) {
        return false;
      }
      if (end.si_pid == 0) {
        return true;
      }
      reaped_ = reaped_ || end.si_pid == command_;
    }
  }

  void terminate_rest() {
    rest_ends_ = base::add_saturating(base::boot_clock().now(), post_.kill_after);
    signal_group(SIGTERM);
    signal_group(SIGCONT);
    for_each_child([](pid_t child, bool /*ended*/) {
      kill(child, SIGTERM);
      kill(child, SIGCONT);
    });
  }

  void signal_group(int signal) const {
    if (!reaped_) {
      kill(-command_, signal);
    }
  }

  // Until nothing is left that may be killed. What is killed leaves its children to us.
  void kill_all() {
    signal_group(SIGKILL);
    for (bool again = true; again;) {
      again = !command_has_ended() && kill(command_, SIGKILL) == 0;
      for_each_child([&](pid_t child, bool ended) {
        if (child != command_) {
          again = (ended ? waitpid(child, nullptr, WNOHANG) == child : kill(child, SIGKILL) == 0) ||
                  again;
        }
      });
      if (again) {
        pollfd source{.fd = post_.signals, .events = POLLIN, .revents = 0};
        poll(&source, 1, 10);
        signalfd_siginfo info{};
        static_cast<void>(read(post_.signals, &info, sizeof info));
      }
    }
  }

  [[noreturn]] void end_all() {
    kill_all();
    finish();
  }

  [[noreturn]] void finish() {
    report(post_, Kind::ended, status_.value_or(kSignalled + SIGKILL));
    char order = 0;
    while (read(post_.orders, &order, 1) == 1) {  // until the supervisor is done with the group
    }
    leave();
  }

  [[noreturn]] void leave() {
    reap();  // in a container, nobody else might
    _exit(0);
  }

  const GuardianPost post_;
  const pid_t command_;  // also the id of its process group
  const IfOrphaned if_orphaned_;
  base::TimePoint rest_ends_ = base::TimePoint::max();  // KILL then for what is left behind
  std::optional<int> status_;                           // of the command, when it has ended
  bool acknowledged_ = false;  // the supervisor knows that the command has ended
  bool reaped_ = false;
  bool terminated_ = false;
};

}  // namespace

void guard(const GuardianPost& post, Spawn& spawn) noexcept {
  // A signal for the supervisor's group, such as a KILL, is not for this process.
  setpgid(0, 0);
  prctl(PR_SET_NAME, "holdfast-guard");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  const auto command = spawn.start();
  if (!command) {
    const auto [step, error] = command.error();
    report(post, step == StartFailure::Step::process ? Kind::no_process : Kind::not_executed,
           error);
    _exit(0);
  }
  report(post, Kind::started, *command);
  close_all_but({post.orders, post.reports, post.signals, post.timer->descriptor()});
  Guard(post, *command, spawn.options().if_orphaned).run();
}

}  // namespace holdfast::cli
