#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <spawn.h>

#include "bench/locks/child.h"

namespace holdfast::bench_locks {

namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  static Pipe make() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe");
    }
    return {ends[0], ends[1]};
  }
};

pid_t spawn(const std::vector<std::string>& command, posix_spawn_file_actions_t* actions) {
  std::vector<char*> words;
  for (const std::string& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, words[0], actions, nullptr, words.data(), environ);
  if (error != 0) {
    throw std::system_error(error, std::generic_category(), command.front());
  }
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Child::Child(const std::vector<std::string>& command) {
  const Pipe input = Pipe::make();
  const Pipe output = Pipe::make();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.read_end, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.write_end, STDOUT_FILENO);
  pid_ = spawn(command, &actions);
  posix_spawn_file_actions_destroy(&actions);
  close(input.read_end);
  close(output.write_end);
  to_ = fdopen(input.write_end, "w");
  from_ = fdopen(output.read_end, "r");
}

Child::~Child() {
  std::fclose(to_);
  std::fclose(from_);
  wait_for(pid_);
}

void Child::say(std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), to_);
  std::fputc('\n', to_);
  std::fflush(to_);
}

std::string Child::hear() {
  char line[64];
  if (std::fgets(line, sizeof line, from_) == nullptr) {
    throw std::runtime_error("the other process has ended");
  }
  return line;
}

void run_command(const std::vector<std::string>& command) {
  const int status = wait_for(spawn(command, nullptr));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(command.front() + " failed");
  }
}

}  // namespace holdfast::bench_locks
