#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include <fmt/core.h>

#include <holdfast/base/printable.h>

#include "apps/holdfast/cli/console.h"
#include "apps/holdfast/cli/streams.h"
#include "apps/holdfast/cli/text.h"

namespace holdfast::cli {

namespace {

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool wants_colour() {
  const char* const terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && !is_set("NO_COLOR") && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

int code_of(Colour colour) {
  switch (colour) {
    case Colour::red: return 31;
    case Colour::green: return 32;
    case Colour::yellow: return 33;
    case Colour::bold: return 1;
  }
  return 0;
}

std::size_t width_of_terminal() {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

}  // namespace

std::string paint(Colour colour, std::string_view text) {
  static const bool kWanted = wants_colour();
  return kWanted ? fmt::format("\033[{}m{}\033[0m", code_of(colour), text) : std::string(text);
}

Console::Console() : is_terminal_(isatty(STDERR_FILENO) != 0) {}

void Console::print(std::string_view text) {
  const base::MutexLock guard(mutex_);
  erase_locked();
  write_error(fmt::format("{}\n", base::printable_message(text)));
}

void Console::show(std::string_view text) {
  if (!is_terminal_) {
    return;
  }
  const base::MutexLock guard(mutex_);
  write_error(
      fmt::format("\r\033[K{}", cut(base::printable_message(text), width_of_terminal() - 1)));
  shown_ = true;
}

void Console::erase() {
  const base::MutexLock guard(mutex_);
  erase_locked();
}

void Console::erase_locked() {
  if (shown_) {
    write_error("\r\033[K");
    shown_ = false;
  }
}

}  // namespace holdfast::cli
