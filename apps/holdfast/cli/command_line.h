#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>

namespace holdfast::cli {

using Arguments = std::vector<std::string>;

// The text of `--help` around the list of options. Borrows its texts.
struct Help {
  std::string_view command;   // "holdfast run"
  std::string_view usage;     // what follows it: "[OPTIONS] NAME -- COMMAND…"
  std::string_view about;     // one or more sentences
  std::string_view examples;  // one per line, with an indent of two
};

// Takes the text of an argument; an error says what is wrong with it.
using Reader = std::function<base::Result<void>(std::string_view)>;

[[nodiscard]] Reader into(std::string& target);
[[nodiscard]] Reader into(base::Duration& target);
[[nodiscard]] Reader into(std::optional<base::Duration>& target);
[[nodiscard]] Reader into(base::LeaseId& target);
[[nodiscard]] Reader into(std::optional<base::LeaseId>& target);
// A whole number from `least` to `most`.
[[nodiscard]] Reader into(std::uint64_t& target, std::uint64_t least, std::uint64_t most);

enum class Presence : std::uint8_t { optional, required };

// The command line of one command: declare what it takes, then parse. What is declared outlives the
// call of parse().
//
//   CommandLine line(kHelp);
//   line.positional("NAME", "what to look at", into(name), Presence::required);
//   if (const auto status = line.parse(arguments)) return *status;
class CommandLine {
 public:
  explicit CommandLine(const Help& help);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // `spelling` as in "-w,--wait"; `value` is its name in the help.
  void flag(const std::string& spelling, bool& target, const std::string& about);
  // A flag that counts how often it is given, as in -vv.
  void counter(const std::string& spelling, int& target, const std::string& about);
  void option(const std::string& spelling, const std::string& value, const std::string& about,
              Reader reader);
  void positional(const std::string& name, const std::string& about, Reader reader,
                  Presence presence);
  void version(const std::string& text);
  // From the first argument that is neither an option nor a positional, or from `--`, everything
  // belongs to another command, unread.
  void rest(Arguments& target);
  // The same for a command to be executed, which is not ambiguous: one whose own arguments have a
  // `--` needs one before it, so that `run a b -- true` is a mistake.
  void command(Arguments& target);
  // Mistakes are reported as JSON if this is set, or if the arguments ask for --json.
  void report_as_json(const bool& json);

  // Returns nullopt to go on; otherwise the exit code, after --help or a mistake, which it reports.
  [[nodiscard]] std::optional<int> parse(const Arguments& arguments);

  // Reports a mistake that only shows when everything is known. Returns the exit code.
  [[nodiscard]] int mistake(std::string_view message) const;

 private:
  class Parser;
  const std::unique_ptr<Parser> parser_;
};

}  // namespace holdfast::cli
