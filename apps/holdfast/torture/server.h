#pragma once

#include <csignal>
#include <memory>
#include <string>
#include <utility>

#include "apps/holdfast/torture/fork.h"

namespace holdfast::cli::torture {

// The server of the store, where this program runs it: the processes of a shell command, which end
// with this object. Their standard output is thrown away.
class Server {
 public:
  // `mask`: the signal mask that they start with.
  Server(std::string command, const sigset_t& mask) : command_(std::move(command)), mask_(mask) {}
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Starts it anew; kills it first if it still runs.
  void start();
  // Kills it, as a loss of power would.
  void kill();
  // Asks it to end, which it may take its time for.
  void ask_to_end() { process_->signal_group(SIGTERM); }
  void pause() { process_->signal_group(SIGSTOP); }
  void resume() { process_->signal_group(SIGCONT); }

 private:
  const std::string command_;
  const sigset_t mask_;
  std::unique_ptr<Fork> process_;
};

}  // namespace holdfast::cli::torture
