#pragma once

#include <sys/types.h>

#include <string>

#include "apps/holdfast/tests/process.h"

namespace holdfast::cli::testing {

// A program with a terminal of its own, as its session's leader; the test is who sits there.
// Killed if it outlives the object.
class Pty {
 public:
  Pty(const Words& command, const Environment& environment);
  ~Pty();
  Pty(const Pty&) = delete;
  Pty& operator=(const Pty&) = delete;

  void type(const std::string& text) const;
  // Reads until the text has come, and returns what came before it. Fails the test if it does not.
  std::string expect(const std::string& text);
  // Reads until something matches this regular expression, and returns it. Fails the test if
  // nothing does.
  std::string expect_match(const std::string& pattern);
  // Reads until the program has ended: its status, or 128 and the signal.
  int wait();
  // Output that was read and not yet expected.
  [[nodiscard]] const std::string& screen() const noexcept { return screen_; }

 private:
  // False when there is nobody left to write.
  bool read_more();

  pid_t id_ = -1;
  int master_ = -1;
  std::string screen_;
};

}  // namespace holdfast::cli::testing
