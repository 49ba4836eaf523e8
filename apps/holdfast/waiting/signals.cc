#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "apps/holdfast/waiting/signals.h"

namespace holdfast::cli {

namespace {

constexpr std::array kForwarded = {SIGTERM, SIGINT,   SIGHUP,  SIGQUIT, SIGUSR1,
                                   SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT};

sigset_t taken_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kForwarded) {
    sigaddset(&signals, signal);
  }
  sigaddset(&signals, SIGCHLD);
  return signals;
}

sigset_t ignored_signals() {
  sigset_t ignored;
  sigemptyset(&ignored);
  for (const int signal : kForwarded) {
    struct sigaction action{};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
      sigaddset(&ignored, signal);
    }
  }
  return ignored;
}

}  // namespace

Signals::Signals() : ignored_(ignored_signals()) {
  // Inherited as ignored, it would make the kernel forget how the command ended.
  ::signal(SIGCHLD, SIG_DFL);
  const sigset_t taken = taken_signals();
  sigset_t blocked = taken;
  // Nor may a process in the background change who has the terminal, unless it blocks this.
  sigaddset(&blocked, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &blocked, &original_);
  descriptor_ = Descriptor(signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  if (descriptor_.get() < 0) {
    throw std::system_error(errno, std::generic_category(), "signalfd");
  }
}

Signals::~Signals() { pthread_sigmask(SIG_SETMASK, &original_, nullptr); }

std::optional<int> Signals::next() const {
  signalfd_siginfo info{};
  if (read(descriptor_.get(), &info, sizeof info) != sizeof info) {
    return std::nullopt;
  }
  return static_cast<int>(info.ssi_signo);
}

void suspend(Stop whom) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  if (whom == Stop::whole_job) {
    kill(0, SIGTSTP);
  } else {
    raise(SIGTSTP);
  }
  // Stopped here, between these two.
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

bool Signals::asks_to_end(int signal) const noexcept {
  return signal != SIGWINCH && signal != SIGTSTP && signal != SIGCONT && signal != SIGCHLD &&
         sigismember(&ignored_, signal) == 0;
}

}  // namespace holdfast::cli
