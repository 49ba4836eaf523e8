#include <poll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <stop_token>
#include <system_error>
#include <utility>

#include "apps/holdfast/child/supervisor.h"
#include "apps/holdfast/cli/exit_status.h"

namespace holdfast::cli {

namespace {

using Action = LossPlan::Action;

Descriptor make_timer() {
  // It counts suspend, as the lease does.
  Descriptor timer(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (timer.get() < 0) {
    throw std::system_error(errno, std::generic_category(), "timerfd_create");
  }
  return timer;
}

void arm(const Descriptor& timer, base::TimePoint when) {
  itimerspec spec{};
  if (when != base::TimePoint::max()) {
    const auto since_boot = when.time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
    spec.it_value.tv_sec = seconds.count();
    spec.it_value.tv_nsec = (since_boot - seconds).count();
  }
  timerfd_settime(timer.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

}  // namespace

Supervisor::Supervisor(pid_t command, const locks::Lock& lock, const Signals& signals,
                       JobTerminal& terminal, SupervisorOptions options)
    : command_(command),
      lock_(lock),
      signals_(signals),
      terminal_(terminal),
      options_(std::move(options)),
      plan_(options_.ttl, options_.kill_after),
      timer_(make_timer()) {}

Ended Supervisor::run() {
  const std::stop_callback on_lost(lock_.lost(), [this] { lost_.set(); });
  while (!ended_) {
    look_at_lock();
    wait_for_something();
    take_signals();
  }
  terminal_.take_back(command_);
  return {.status = reap(), .lost = plan_.ending(), .asked_to_end = asked_to_end_};
}

void Supervisor::wait_for_something() {
  std::array<pollfd, 3> sources{{{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0},
                                 {.fd = timer_.get(), .events = POLLIN, .revents = 0},
                                 {.fd = lost_.descriptor(), .events = POLLIN, .revents = 0}}};
  // Once it is known, it has nothing to add.
  const nfds_t count = said_lost_ ? sources.size() - 1 : sources.size();
  poll(sources.data(), count, -1);
}

void Supervisor::take_signals() {
  while (const auto signal = signals_.next()) {
    note(*signal);
    if (*signal != SIGCHLD) {
      kill(-command_, *signal);
    }
    if (*signal == SIGTSTP) {
      suspend(Stop::this_process);
      terminal_.give(command_);
      kill(-command_, SIGCONT);
    }
  }
  siginfo_t change{};
  if (waitid(P_PID, static_cast<id_t>(command_), &change, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) !=
          0 ||
      change.si_pid != command_) {
    return;
  }
  if (change.si_code == CLD_STOPPED) {
    waitid(P_PID, static_cast<id_t>(command_), &change, WSTOPPED | WNOHANG);
    handle_stop(change.si_status);
  } else {
    ended_ = true;
  }
}

// Those that a command may well use for something else count only when it is to end anyway.
void Supervisor::note(int signal) {
  const bool always = signal == SIGTERM || signal == SIGINT || signal == SIGQUIT;
  if (!asked_to_end_ && (always || (plan_.ending() && ends_by_default(signal)))) {
    asked_to_end_ = signal;
  }
}

void Supervisor::look_at_lock() {
  const base::TimePoint now = base::boot_clock().now();
  const base::Duration left = lock_.time_left();
  if (options_.on_lost == OnLost::ignore) {
    if (left <= base::Duration::zero() && !std::exchange(said_lost_, true)) {
      options_.say_lost();
    }
    return;
  }
  const Action action = plan_.at(now, left);
  if (action == Action::terminate) {
    said_lost_ = true;
    options_.say_lost();
    end_group(SIGTERM);
  } else if (action == Action::kill) {
    end_group(SIGKILL);
  }
  arm(timer_, plan_.next(now, left));
}

// A command that was stopped by the terminal, or that asks for it in vain, must not leave the
// person at the shell without a prompt. One that was stopped by somebody else stays so, and its
// lock is kept.
void Supervisor::handle_stop(int signal) {
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (wants_terminal && terminal_.give(command_)) {
    kill(-command_, SIGCONT);
  } else if (terminal_.take_back(command_) || wants_terminal) {
    suspend(Stop::whole_job);
    // Without what it waits for it would only stop again.
    if (terminal_.give(command_) || !wants_terminal) {
      kill(-command_, SIGCONT);
    }
  }
}

void Supervisor::end_group(int signal) const {
  kill(-command_, signal);
  kill(-command_, SIGCONT);  // what is stopped notices nothing else
}

int Supervisor::reap() {
  if (plan_.ending()) {
    // Until it is reaped, the command keeps its group's id from being used again.
    kill(-command_, SIGKILL);
  }
  siginfo_t end{};
  waitid(P_PID, static_cast<id_t>(command_), &end, WEXITED);
  return end.si_code == CLD_EXITED ? end.si_status : kSignalled + end.si_status;
}

}  // namespace holdfast::cli
