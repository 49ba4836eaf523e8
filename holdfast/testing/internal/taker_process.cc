#include <holdfast/testing/internal/taker_process.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <system_error>

#include <spawn.h>

#include <holdfast/testing/internal/patience.h>

namespace holdfast::testing::internal {

namespace {

[[noreturn]] void fail_with(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

// Starts the taker with one socket as its input and output: writing to a dead process is then an
// error, not a signal.
pid_t spawn(const std::string& program, const std::vector<std::string>& arguments, int socket) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    fail_with(error, "cannot start the taker " + program);
  }
  return pid;
}

}  // namespace

TakerProcess::TakerProcess(const std::string& program, const std::vector<std::string>& arguments) {
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    fail_with(errno, "socketpair");
  }
  socket_ = sockets[0];
  try {
    pid_ = spawn(program, arguments, sockets[1]);
  } catch (...) {
    ::close(sockets[0]);
    ::close(sockets[1]);
    throw;
  }
  ::close(sockets[1]);
}

TakerProcess::~TakerProcess() {
  if (pid_ != -1) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(socket_);
}

std::optional<std::string> TakerProcess::next_line() {
  using namespace std::chrono;
  const auto give_up = steady_clock::now() + kPatience;
  for (;;) {
    if (const auto end = heard_.find('\n'); end != std::string::npos) {
      std::string line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      return line;
    }
    pollfd readable{.fd = socket_, .events = POLLIN, .revents = 0};
    const auto left = duration_cast<milliseconds>(give_up - steady_clock::now());
    if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) == 0) {
      throw std::runtime_error("the taker says nothing");
    }
    std::array<char, 256> bytes{};
    const ssize_t count = ::recv(socket_, bytes.data(), bytes.size(), 0);
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return std::nullopt;
    }
    heard_.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

std::string TakerProcess::hear() {
  std::optional<std::string> line = next_line();
  if (!line) {
    throw std::runtime_error("the taker has gone before it said anything");
  }
  return *std::move(line);
}

std::vector<std::string> TakerProcess::hear_rest() {
  std::vector<std::string> lines;
  while (std::optional<std::string> line = next_line()) {
    lines.push_back(*std::move(line));
  }
  return lines;
}

void TakerProcess::say(std::string_view order) {
  const std::string line = std::string(order) + "\n";
  if (::send(socket_, line.data(), line.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(line.size())) {
    fail_with(errno, "the taker does not listen");
  }
}

void TakerProcess::send(int signal) const {
  if (pid_ == -1 || ::kill(pid_, signal) != 0) {
    throw std::runtime_error("the taker is gone");
  }
}

void TakerProcess::wait_for_state(int options) {
  int status = 0;
  if (!eventually([&] { return ::waitpid(pid_, &status, options | WNOHANG) == pid_; })) {
    throw std::runtime_error("the taker does not do what the signal says");
  }
  if (WIFEXITED(status) || WIFSIGNALED(status)) {
    pid_ = -1;
  }
}

void TakerProcess::stop() {
  send(SIGSTOP);
  wait_for_state(WUNTRACED);
}

void TakerProcess::go_on() {
  send(SIGCONT);
  wait_for_state(WCONTINUED);
}

void TakerProcess::kill() {
  send(SIGKILL);
  wait_for_state(0);
}

void TakerProcess::wait_until_gone() { wait_for_state(0); }

}  // namespace holdfast::testing::internal
