#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <regex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include <spawn.h>

#include "apps/holdfast/tests/process.h"

namespace holdfast::cli::testing {

namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe2");
    }
  }
  std::array<int, 2> ends{};
};

std::vector<char*> pointers(const Words& words) {
  std::vector<char*> all;
  for (const std::string& word : words) {
    all.push_back(const_cast<char*>(word.c_str()));
  }
  all.push_back(nullptr);
  return all;
}

pid_t start(const Words& command, const Environment& environment, int input, int output,
            int errors) {
  Words variables;
  for (const auto& [name, value] : environment) {
    variables.push_back(name + "=" + value);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t id = -1;
  const int error = posix_spawnp(&id, command.front().c_str(), &actions, &attributes,
                                 pointers(command).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw std::system_error(error, std::generic_category(), command.front());
  }
  return id;
}

}  // namespace

Process::Process(const Words& command, const Environment& environment) {
  const Pipe input;
  const Pipe output;
  const Pipe errors;
  id_ = start(command, environment, input.ends[0], output.ends[1], errors.ends[1]);
  close(input.ends[0]);
  close(output.ends[1]);
  close(errors.ends[1]);
  input_ = input.ends[1];
  output_.descriptor = output.ends[0];
  errors_.descriptor = errors.ends[0];
}

Process::~Process() {
  if (id_ > 0) {
    kill(-id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  for (const int descriptor : {input_, output_.descriptor, errors_.descriptor}) {
    if (descriptor >= 0) {
      close(descriptor);
    }
  }
}

void Process::signal(int number) const { kill(id_, number); }

void Process::write(const std::string& text) const {
  if (::write(input_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::system_error(errno, std::generic_category(), "write");
  }
}

void Process::close_input() {
  if (input_ >= 0) {
    close(input_);
    input_ = -1;
  }
}

bool Process::read_more() {
  std::array<pollfd, 2> sources{{{.fd = output_.descriptor, .events = POLLIN, .revents = 0},
                                 {.fd = errors_.descriptor, .events = POLLIN, .revents = 0}}};
  if (output_.descriptor < 0 && errors_.descriptor < 0) {
    return false;
  }
  constexpr int kMs = std::chrono::milliseconds(kPatience).count();
  if (poll(sources.data(), sources.size(), kMs) <= 0) {
    throw std::runtime_error("the program neither writes nor ends");
  }
  std::array<Stream*, 2> streams{&output_, &errors_};
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (sources[i].revents == 0) {
      continue;
    }
    std::array<char, 4096> bytes{};
    const ssize_t count = read(sources[i].fd, bytes.data(), bytes.size());
    if (count > 0) {
      streams[i]->buffer.append(bytes.data(), static_cast<std::size_t>(count));
    } else {
      close(std::exchange(streams[i]->descriptor, -1));
    }
  }
  return true;
}

std::string Process::next_line(Stream& stream) {
  while (stream.buffer.find('\n') == std::string::npos && stream.descriptor >= 0 && read_more()) {
  }
  const std::size_t end = stream.buffer.find('\n');
  std::string line = stream.buffer.substr(0, end);
  stream.buffer.erase(0, end == std::string::npos ? end : end + 1);
  return line;
}

std::string Process::rest(Stream& stream) { return std::exchange(stream.buffer, {}); }

int Process::wait() {
  close_input();
  while (read_more()) {
  }
  int status = 0;
  waitpid(std::exchange(id_, -1), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool starts_with_match(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, std::regex(pattern), std::regex_constants::match_continuous);
}

Outcome run_to_end(const Words& command, const Environment& environment, const std::string& input) {
  Process process(command, environment);
  if (!input.empty()) {
    process.write(input);
  }
  const int status = process.wait();
  return {status, process.rest_of_output(), process.rest_of_errors()};
}

}  // namespace holdfast::cli::testing
