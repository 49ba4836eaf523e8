#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <stop_token>
#include <utility>

#include "apps/holdfast/child/supervisor.h"
#include "apps/holdfast/cli/exit_status.h"

namespace holdfast::cli {

namespace {

using Action = LossPlan::Action;

// Long enough for a command such as `true`, and short beside the time after which a lease is
// renewed.
base::Duration moment_of(base::Duration ttl) {
  return std::min<base::Duration>(std::chrono::milliseconds(50), ttl / 8);
}

}  // namespace

Supervisor::Supervisor(Guardian& guardian, const locks::Lock& lock, const Signals& signals,
                       JobTerminal& terminal, SupervisorOptions options)
    : guardian_(guardian),
      command_(guardian.command()),
      lock_(lock),
      signals_(signals),
      terminal_(terminal),
      options_(std::move(options)),
      plan_(options_.ttl, options_.kill_after) {}

Ended Supervisor::run() {
  const std::stop_callback on_lost(lock_.lost(), [this] { lost_.set(); });
  if (options_.start_keeping) {
    keep_at_ = base::boot_clock().now() + moment_of(options_.ttl);
  }
  while (!status_) {
    keep_if_due();
    look_at_lock();
    wait_for_something();
    take_reports(Stops::handled);  // first: the group of a command that has ended gets no signals
    take_signals();
  }
  terminal_.take_back(command_);
  if (lock_.time_left() <= base::Duration::zero()) {
    look_at_lock();  // the guardian may have ended it while we were stopped
  }
  return {.status = *status_, .lost = plan_.ending(), .asked_to_end = asked_to_end_};
}

void Supervisor::wait_for_something() {
  std::array<pollfd, 4> sources{{{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0},
                                 {.fd = guardian_.descriptor(), .events = POLLIN, .revents = 0},
                                 {.fd = timer_.descriptor(), .events = POLLIN, .revents = 0},
                                 {.fd = lost_.descriptor(), .events = POLLIN, .revents = 0}}};
  // Once it is known, it has nothing to add.
  const nfds_t count = said_lost_ ? sources.size() - 1 : sources.size();
  constexpr base::Duration kHour = std::chrono::hours(1);  // fits into an int
  const auto pause = std::chrono::ceil<std::chrono::milliseconds>(std::min(options_.every, kHour));
  poll(sources.data(), count, options_.tick ? static_cast<int>(pause.count()) : -1);
  if (options_.tick) {
    options_.tick();
  }
}

void Supervisor::take_signals() {
  while (const auto signal = signals_.next()) {
    note(*signal);
    if (status_) {
      continue;
    }
    if (left_behind_) {
      if (signals_.asks_to_end(*signal)) {
        guardian_.end_rest();
      }
    } else if (*signal != SIGCHLD) {
      kill(-command_, *signal);
    }
    if (*signal == SIGTSTP) {
      suspend_until_continued(Stop::this_process);
      if (command_runs()) {
        terminal_.give(command_);
        kill(-command_, SIGCONT);
      }
    }
  }
}

// Earlier reports of a stop of the command are out of date then.
void Supervisor::suspend_until_continued(Stop whom) {
  suspend(whom);
  take_reports(Stops::outdated);
}

void Supervisor::take_reports(Stops stops) {
  while (const auto report = status_ ? std::nullopt : guardian_.next()) {
    switch (report->kind) {
      case GuardianReport::Kind::stopped:
        if (stops == Stops::handled) {
          handle_stop(report->value);
        }
        break;
      case GuardianReport::Kind::left:
        kill(-command_, SIGCONT);  // for what was stopped with it: the last signal for its group
        left_behind_ = true;
        if (asked_to_end_ || plan_.ending()) {
          guardian_.end_rest();
        } else {
          guardian_.acknowledge_end();
        }
        break;
      case GuardianReport::Kind::ended: status_ = report->value; break;
      case GuardianReport::Kind::died:
        if (command_runs()) {
          kill(-command_, SIGKILL);
        }
        status_ = kSignalled + SIGKILL;
        break;
      case GuardianReport::Kind::started:
      case GuardianReport::Kind::no_process:
      case GuardianReport::Kind::not_executed: break;
    }
  }
}

// Those that a command may well use for something else count only when it is to end anyway.
void Supervisor::note(int signal) {
  const bool always = signal == SIGTERM || signal == SIGINT || signal == SIGQUIT;
  if (!asked_to_end_ && signals_.asks_to_end(signal) && (always || plan_.ending())) {
    asked_to_end_ = signal;
  }
}

void Supervisor::keep_if_due() {
  const base::TimePoint now = base::boot_clock().now();
  if (now >= keep_at_) {
    keep_at_ = options_.start_keeping() ? base::TimePoint::max() : now + moment_of(options_.ttl);
  }
}

void Supervisor::look_at_lock() {
  const base::TimePoint now = base::boot_clock().now();
  const base::Duration left = lock_.time_left();
  if (options_.on_lost == OnLost::ignore) {
    timer_.arm(keep_at_);
    if (left <= base::Duration::zero() && !std::exchange(said_lost_, true)) {
      options_.say_lost();
    }
    return;
  }
  const Action action = plan_.at(now, left);
  guardian_.set({.term = plan_.overdue(now, left), .kill = plan_.kill_at(now, left)});
  if (action == Action::terminate) {
    said_lost_ = true;
    options_.say_lost();
    guardian_.set_ending();
    end_group(SIGTERM);
  } else if (action == Action::kill) {
    end_group(SIGKILL);
  }
  timer_.arm(std::min(plan_.next(now, left), keep_at_));
}

// A command that was stopped by the terminal, or that asks for it in vain, must not leave the
// person at the shell without a prompt. One that was stopped by somebody else stays so, and its
// lock is kept.
void Supervisor::handle_stop(int signal) {
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (wants_terminal && terminal_.give(command_)) {
    kill(-command_, SIGCONT);
  } else if (terminal_.take_back(command_) || wants_terminal) {
    suspend_until_continued(Stop::whole_job);
    // Without what it waits for it would only stop again.
    if (command_runs() && (terminal_.give(command_) || !wants_terminal)) {
      kill(-command_, SIGCONT);
    }
  }
}

void Supervisor::end_group(int signal) {
  if (status_) {
    return;
  }
  if (left_behind_) {
    guardian_.end_rest();
    return;
  }
  kill(-command_, signal);
  kill(-command_, SIGCONT);  // what is stopped notices nothing else
}

}  // namespace holdfast::cli
