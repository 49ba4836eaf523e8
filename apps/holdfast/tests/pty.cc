#include <pty.h>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <regex>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

#include "apps/holdfast/tests/pty.h"

namespace holdfast::cli::testing {

namespace {

std::vector<char*> pointers(const Words& words) {
  std::vector<char*> all;
  for (const std::string& word : words) {
    all.push_back(const_cast<char*>(word.c_str()));
  }
  all.push_back(nullptr);
  return all;
}

}  // namespace

Pty::Pty(const Words& command, const Environment& environment) {
  Words variables;
  for (const auto& [name, value] : environment) {
    variables.push_back(name + "=" + value);
  }
  const auto arguments = pointers(command);
  const auto all_variables = pointers(variables);
  const winsize size{.ws_row = 24, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
  id_ = forkpty(&master_, nullptr, nullptr, &size);
  if (id_ == 0) {
    execvpe(arguments.front(), arguments.data(), all_variables.data());
    _exit(127);
  }
  if (id_ < 0) {
    throw std::system_error(errno, std::generic_category(), "forkpty");
  }
}

Pty::~Pty() {
  if (id_ > 0) {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  close(master_);
}

void Pty::type(const std::string& text) const {
  if (write(master_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::system_error(errno, std::generic_category(), "write");
  }
}

bool Pty::read_more() {
  constexpr int kMs = std::chrono::milliseconds(kPatience).count();
  pollfd source{.fd = master_, .events = POLLIN, .revents = 0};
  if (poll(&source, 1, kMs) <= 0) {
    throw std::runtime_error("nothing happens on the terminal, on which is: " + screen_);
  }
  std::array<char, 4096> bytes{};
  const ssize_t count = read(master_, bytes.data(), bytes.size());
  if (count <= 0) {
    return false;
  }
  screen_.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

std::string Pty::expect(const std::string& text) {
  while (screen_.find(text) == std::string::npos) {
    if (!read_more()) {
      ADD_FAILURE() << "'" << text << "' did not come, but: " << screen_;
      return {};
    }
  }
  const std::size_t found = screen_.find(text);
  std::string before = screen_.substr(0, found);
  screen_.erase(0, found + text.size());
  return before;
}

std::string Pty::expect_match(const std::string& pattern) {
  const std::regex wanted(pattern);
  std::smatch found;
  while (!std::regex_search(screen_, found, wanted)) {
    if (!read_more()) {
      ADD_FAILURE() << "'" << pattern << "' did not come, but: " << screen_;
      return {};
    }
  }
  std::string match = found.str();
  screen_ = found.suffix().str();
  return match;
}

int Pty::wait() {
  while (read_more()) {
  }
  int status = 0;
  waitpid(std::exchange(id_, -1), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace holdfast::cli::testing
