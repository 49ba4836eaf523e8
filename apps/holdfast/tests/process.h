#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <tests/support/patience.h>

namespace holdfast::cli::testing {

using Words = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

using tests::eventually;
using tests::kPatience;

// A program that runs beside the test, its three streams being pipes. Killed with its process group
// if it outlives the object.
class Process {
 public:
  // `environment` is all that it gets.
  Process(const Words& command, const Environment& environment);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t id() const noexcept { return id_; }
  void signal(int number) const;
  void write(const std::string& text) const;
  void close_input();

  // The next line, without its end; what there is if the stream ends first.
  std::string read_line() { return next_line(output_); }
  std::string read_error_line() { return next_line(errors_); }

  // Until it has ended: its status, or 128 and the signal. Closes its input first.
  int wait();
  // Everything that was not read before; after wait().
  std::string rest_of_output() { return rest(output_); }
  std::string rest_of_errors() { return rest(errors_); }

 private:
  struct Stream {
    int descriptor = -1;
    std::string buffer{};
  };

  // Reads more of any stream, so that the program never waits for us; false when all have ended.
  bool read_more();
  std::string next_line(Stream& stream);
  static std::string rest(Stream& stream);

  pid_t id_ = -1;
  int input_ = -1;
  Stream output_;
  Stream errors_;
};

// The output and the end of a program.
struct Outcome {
  int status;
  std::string output;
  std::string errors;
};

// Returns whether the text begins with a match of this regular expression.
[[nodiscard]] bool starts_with_match(const std::string& text, const std::string& pattern);

Outcome run_to_end(const Words& command, const Environment& environment,
                   const std::string& input = {});

}  // namespace holdfast::cli::testing
