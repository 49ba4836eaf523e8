#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "apps/holdfast/child/keeper.h"
#include "apps/holdfast/waiting/event.h"

namespace holdfast::cli {

namespace {

// Returns the name of the program that a process executes, without its folder; nothing if that
// cannot be read.
std::string program_of(const std::string& process) {
  constexpr std::string_view kDeleted = " (deleted)";  // by an upgrade
  std::error_code failed;
  std::string name =
      std::filesystem::read_symlink("/proc/" + process + "/exe", failed).filename().string();
  if (name.ends_with(kDeleted)) {
    name.resize(name.size() - kDeleted.size());
  }
  return name;
}

}  // namespace

std::expected<ProcessHandle, int> ProcessHandle::open(pid_t id) {
  // Not by <sys/pidfd.h>, whose functions glibc 2.36 does not declare for C++.
  Descriptor descriptor(static_cast<int>(syscall(SYS_pidfd_open, id, 0)));
  if (descriptor.get() < 0) {
    return std::unexpected(errno);
  }
  return ProcessHandle(std::move(descriptor));
}

void ProcessHandle::signal(int number) const noexcept {
  syscall(SYS_pidfd_send_signal, descriptor_.get(), number, nullptr, 0);
}

bool ProcessHandle::wait_for_end(int milliseconds) const noexcept {
  pollfd source{.fd = descriptor_.get(), .events = POLLIN, .revents = 0};
  return poll(&source, 1, milliseconds) > 0;
}

KeeperEnd keep(const locks::Lock& lock, const ProcessHandle& shell, const Signals& signals) {
  const Event lost;
  const std::stop_callback on_lost(lock.lost(), [&lost] { lost.set(); });
  for (;;) {
    std::array<pollfd, 3> sources{{{.fd = shell.descriptor(), .events = POLLIN, .revents = 0},
                                   {.fd = signals.descriptor(), .events = POLLIN, .revents = 0},
                                   {.fd = lost.descriptor(), .events = POLLIN, .revents = 0}}};
    poll(sources.data(), sources.size(), -1);
    if (sources[0].revents != 0) {
      return KeeperEnd::shell_ended;
    }
    while (const auto signal = signals.next()) {
      // TERM also where the shell ignores it: `release` sends it.
      if (*signal == SIGTERM || signals.asks_to_end(*signal)) {
        return KeeperEnd::asked_to_end;
      }
    }
    if (sources[2].revents != 0) {
      return KeeperEnd::lost;
    }
  }
}

void go_to_background() {
  setsid();
  const Descriptor nowhere(open("/dev/null", O_RDWR | O_CLOEXEC));
  dup2(nowhere.get(), STDIN_FILENO);
  dup2(nowhere.get(), STDOUT_FILENO);
}

bool end_keeper(pid_t id) {
  constexpr int kPatienceMs = 5000;
  const auto process = ProcessHandle::open(id);
  if (!process) {
    return process.error() == ESRCH;
  }
  // Looked at after it was opened, so that it is the same process.
  const std::string program = program_of(std::to_string(id));
  if (!program.empty() && program != program_of("self")) {
    return true;  // another process got the id
  }
  if (!program.empty()) {
    process->signal(SIGTERM);
  }
  return process->wait_for_end(program.empty() ? 0 : kPatienceMs);
}

}  // namespace holdfast::cli
