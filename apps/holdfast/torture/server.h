#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apps/holdfast/torture/fork.h"

namespace holdfast::cli::torture {

// The server of the store, where this program runs it: the processes of a shell command, which end
// with this object, and with the process that made it. Those in sessions of their own, such as the
// children of a PostgreSQL server, and daemons are among them: a process in between adopts
// processes whose parents have ended. Their standard output is thrown away.
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
  void ask_to_end() const { signal_all(SIGTERM); }
  void pause() const { signal_all(SIGSTOP); }
  void resume() const { signal_all(SIGCONT); }
  // Returns how the command has ended, as waitpid says; nullopt while any of its processes runs.
  [[nodiscard]] std::optional<int> status();

 private:
  void signal_all(int number) const;
  // Runs in the process in between. Returns the status of the command when its last process has
  // ended; kills them all when it gets SIGTERM, which it does when its parent ends.
  [[nodiscard]] int run_command() const;

  const std::string command_;
  const sigset_t mask_;
  std::unique_ptr<Fork> process_;  // in between
};

}  // namespace holdfast::cli::torture
