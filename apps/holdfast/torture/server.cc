#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/torture/descendants.h"
#include "apps/holdfast/torture/server.h"

namespace holdfast::cli::torture {

namespace {

void signal_descendants(pid_t process, int number) {
  for (const pid_t descendant : descendants_of(process)) {
    ::kill(descendant, number);
  }
}

[[noreturn]] void become(const std::string& command, const sigset_t& mask) {
  setpgid(0, 0);  // a signal of the terminal is not for it
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nowhere, STDIN_FILENO);
  dup2(nowhere, STDOUT_FILENO);
  execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  _exit(kNotFound);
}

}  // namespace

Server::~Server() {
  if (process_) {
    kill();
  }
}

void Server::start() {
  if (process_) {
    kill();
  }
  process_ = std::make_unique<Fork>([this] { return run_command(); }, -1);
}

int Server::run_command() const {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  setpgid(0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const pid_t command = fork();
  if (command == 0) {
    become(command_, mask_);
  }
  int result = command < 0 ? kInternal : kSuccess;
  for (bool is_over = false;;) {
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended == command) {
        result = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
      }
    }
    if (ended < 0) {
      return result;  // nobody is left
    }
    if (is_over) {  // the end of each wakes it, and shows what that has left behind
      signal_descendants(getpid(), SIGKILL);
    }
    int signal = 0;
    sigwait(&signals, &signal);
    is_over = is_over || signal == SIGTERM;
  }
}

std::optional<int> Server::status() { return process_->status(); }

void Server::signal_all(int number) const {
  if (!process_->has_ended()) {
    signal_descendants(process_->id(), number);
  }
}

void Server::kill() {
  process_->signal(SIGTERM);
  while (!process_->status()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace holdfast::cli::torture
