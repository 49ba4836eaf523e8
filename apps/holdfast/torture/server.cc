#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/torture/server.h"

namespace holdfast::cli::torture {

Server::~Server() {
  if (process_) {
    kill();
  }
}

void Server::start() {
  if (process_) {
    kill();
  }
  process_ = std::make_unique<Fork>(
      [this] {
        setpgid(0, 0);
        pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
        const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", ("exec " + command_).c_str(), nullptr);
        return kNotFound;
      },
      -1);
}

void Server::kill() {
  process_->signal_group(SIGKILL);
  process_->kill();
}

}  // namespace holdfast::cli::torture
