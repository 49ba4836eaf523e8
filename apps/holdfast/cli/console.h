#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/base/mutex.h>

namespace holdfast::cli {

enum class Colour : std::uint8_t { red, green, yellow, bold };

// The text in that colour if standard output is a terminal that wants it (NO_COLOR, TERM), else as
// it is.
[[nodiscard]] std::string paint(Colour colour, std::string_view text);

// The error stream, with lines that stay and, on a terminal, one line that lives. Thread-safe.
class Console {
 public:
  Console();
  ~Console() { erase(); }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  [[nodiscard]] bool is_terminal() const noexcept { return is_terminal_; }

  // Prints a line of its own, made safe for a terminal; `text` has no line end.
  void print(std::string_view text);
  // Replaces the line that lives; cut to the width of the terminal. Only on a terminal.
  void show(std::string_view text);
  void erase();

 private:
  void erase_locked() HOLDFAST_REQUIRES(mutex_);

  const bool is_terminal_;
  base::Mutex mutex_;
  bool shown_ HOLDFAST_GUARDED_BY(mutex_) = false;
};

}  // namespace holdfast::cli
