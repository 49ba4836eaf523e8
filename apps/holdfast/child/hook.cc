#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include <holdfast/base/saturate.h>

#include "apps/holdfast/child/boot_timer.h"
#include "apps/holdfast/child/hook.h"
#include "apps/holdfast/child/spawn.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/waiting/event.h"

namespace holdfast::cli {

Hook::Hook(std::string script, std::vector<std::string> variables, const sigset_t& signal_mask)
    : script_(std::move(script)), variables_(std::move(variables)), signal_mask_(signal_mask) {}

Hook::~Hook() {
  if (id_ > 0 && waitpid(id_, nullptr, WNOHANG) == 0) {
    std::thread([id = id_] { waitpid(id, nullptr, 0); }).detach();
  }
}

void Hook::start() {
  if (script_.empty()) {
    return;
  }
  Spawn spawn({.command = {"/bin/sh", "-c", script_},
               .variables = variables_,
               .signal_mask = signal_mask_,
               .if_orphaned = IfOrphaned::live_on,
               .input = Input::nothing});
  id_ = spawn.start().value_or(-1);
}

// A stopped process notices a signal only when it is continued.
void Hook::pass_on(int signal) {
  kill(-id_, signal);
  if (signal == SIGTSTP) {
    suspend(Stop::this_process);
  }
  kill(-id_, SIGCONT);
}

HookEnded Hook::run(const Signals& signals, const std::stop_token& lost, base::Duration kill_after,
                    base::Duration every, const std::function<void()>& tick) {
  start();
  if (script_.empty()) {
    return {.status = kSuccess};
  }
  if (id_ < 0) {
    return {.status = kNotFound};
  }
  const Event end;
  const BootTimer killer;
  const std::stop_callback on_lost(lost, [&end] { end.set(); });
  constexpr base::Duration kHour = std::chrono::hours(1);  // fits into an int
  const auto pause = std::chrono::ceil<std::chrono::milliseconds>(std::min(every, kHour));
  std::optional<int> asked_to_end;
  int status = 0;
  for (bool ending = false; waitpid(id_, &status, WNOHANG) == 0;) {
    // Its end is a signal, too. Once the loss is known, it has nothing to add.
    std::array<pollfd, 3> sources{{{.fd = signals.descriptor(), .events = POLLIN, .revents = 0},
                                   {.fd = killer.descriptor(), .events = POLLIN, .revents = 0},
                                   {.fd = end.descriptor(), .events = POLLIN, .revents = 0}}};
    poll(sources.data(), ending ? 2 : 3, static_cast<int>(pause.count()));
    tick();
    if (sources[1].revents != 0) {
      kill(-id_, SIGKILL);
      killer.arm(base::TimePoint::max());
    }
    if (lost.stop_requested() && !std::exchange(ending, true)) {
      pass_on(SIGTERM);
      killer.arm(base::add_saturating(base::boot_clock().now(), kill_after));
    }
    while (const auto signal = signals.next()) {
      if (*signal != SIGCHLD) {
        pass_on(*signal);
      }
      if ((*signal == SIGTERM || *signal == SIGINT || *signal == SIGQUIT) &&
          signals.asks_to_end(*signal)) {
        asked_to_end = asked_to_end.value_or(*signal);
      }
    }
  }
  id_ = -1;
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status),
          .asked_to_end = asked_to_end};
}

}  // namespace holdfast::cli
