#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>

#include "apps/holdfast/cli/command_line.h"
#include "apps/holdfast/cli/did_you_mean.h"
#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/streams.h"

namespace holdfast::cli {

namespace {

using base::Result;

constexpr std::size_t kColumn = 26;

class UsageFormatter final : public CLI::Formatter {
 public:
  explicit UsageFormatter(std::string usage) : usage_(std::move(usage)) { column_width(kColumn); }

  std::string make_usage(const CLI::App* /*app*/, std::string name) const override {
    return "Usage: " + name + " " + usage_ + "\n";
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string value = option->get_type_name();
    return value.empty() || option->get_positional() ? "" : " " + value;
  }

 private:
  std::string usage_;
};

Result<void> read_duration(std::string_view text, base::Duration& target) {
  HOLDFAST_TRY_LET(const auto value, base::parse_duration(text));
  target = value;
  return {};
}

std::function<void(const std::string&)> checked(const std::string& name, Reader reader) {
  return [name, reader = std::move(reader)](const std::string& text) {
    if (const auto read = reader(text); !read) {
      throw CLI::ValidationError(name, read.error().message);
    }
  };
}

}  // namespace

Reader into(std::string& target) {
  return [&target](std::string_view text) -> Result<void> {
    target = text;
    return {};
  };
}

Reader into(base::Duration& target) {
  return [&target](std::string_view text) { return read_duration(text, target); };
}

Reader into(std::optional<base::Duration>& target) {
  return [&target](std::string_view text) { return read_duration(text, target.emplace()); };
}

Reader into(base::LeaseId& target) {
  return [&target](std::string_view text) -> Result<void> {
    HOLDFAST_TRY_LET(const auto id, base::LeaseId::parse(text));
    target = id;
    return {};
  };
}

Reader into(std::optional<base::LeaseId>& target) {
  return [&target](std::string_view text) { return into(target.emplace())(text); };
}

Reader into(std::uint64_t& target, std::uint64_t least, std::uint64_t most) {
  return [&target, least, most](std::string_view text) -> Result<void> {
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    std::uint64_t value = 0;
    const auto [after, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || after != end || value < least || value > most) {
      return base::fail(base::ErrorCode::invalid_argument,
                        fmt::format("'{}' is not a whole number from {} to {}",
                                    base::printable(text), least, most));
    }
    target = value;
    return {};
  };
}

class CommandLine::Parser {
 public:
  explicit Parser(const Help& help) : command(help.command), app(std::string(help.about), command) {
    app.formatter(std::make_shared<UsageFormatter>(std::string(help.usage)));
    app.footer("Examples:\n" + std::string(help.examples));
    app.set_help_flag("-h,--help", "Print this and exit");
    app.get_formatter()->label("Positionals", "Arguments");
    app.allow_extras();  // take_rest() reports them
  }

  // Returns what is wrong with the arguments that are neither options nor positionals; empty if
  // nothing is.
  std::string take_rest() const {
    Arguments left = app.remaining();
    if (left.empty()) {
      return {};
    }
    if (left.front() != "--" && left.front().starts_with('-')) {
      return "there is no option " + left.front() + did_you_mean(left.front(), option_names());
    }
    if (rest == nullptr) {
      return "unexpected argument '" + left.front() + "'";
    }
    if (left.front() == "--") {
      left.erase(left.begin());
    } else if (is_command && std::ranges::find(left, "--") != left.end()) {
      return fmt::format("unexpected argument '{0}': if it is the command, write -- {0}",
                         left.front());
    }
    *rest = std::move(left);
    return {};
  }

  std::vector<std::string> option_names() const {
    std::vector<std::string> names;
    for (const CLI::Option* const option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) {
        names.push_back("--" + name);
      }
      for (const std::string& name : option->get_snames()) {
        names.push_back("-" + name);
      }
    }
    return names;
  }

  std::string command;
  CLI::App app;
  Arguments* rest = nullptr;
  bool is_command = false;
  const bool* json = nullptr;
  bool json_asked_for = false;
};

CommandLine::CommandLine(const Help& help) : parser_(std::make_unique<Parser>(help)) {}
CommandLine::~CommandLine() = default;

void CommandLine::flag(const std::string& spelling, bool& target, const std::string& about) {
  parser_->app.add_flag(spelling, target, about);
}

void CommandLine::counter(const std::string& spelling, int& target, const std::string& about) {
  parser_->app.add_flag_function(
      spelling, [&target](std::int64_t times) { target += static_cast<int>(times); }, about);
}

void CommandLine::option(const std::string& spelling, const std::string& value,
                         const std::string& about, Reader reader) {
  const std::string name = spelling.substr(spelling.rfind(',') + 1);
  parser_->app.add_option_function(spelling, checked(name, std::move(reader)), about)
      ->type_name(value);
}

void CommandLine::positional(const std::string& name, const std::string& about, Reader reader,
                             Presence presence) {
  parser_->app.add_option_function(name, checked(name, std::move(reader)), about)
      ->required(presence == Presence::required);
}

void CommandLine::version(const std::string& text) {
  parser_->app.set_version_flag("-V,--version", text, "Print the version and exit");
}

void CommandLine::rest(Arguments& target) {
  parser_->app.prefix_command();
  parser_->rest = &target;
}

void CommandLine::command(Arguments& target) {
  rest(target);
  parser_->is_command = true;
}

void CommandLine::report_as_json(const bool& json) { parser_->json = &json; }

std::optional<int> CommandLine::parse(const Arguments& arguments) {
  const auto own = std::ranges::find(arguments, "--");
  parser_->json_asked_for = std::find(arguments.begin(), own, "--json") != own;
  std::string wrong;
  try {
    parser_->app.parse(Arguments(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    write_output(parser_->app.help());
    return kSuccess;
  } catch (const CLI::CallForVersion& wanted) {
    print_output("{}\n", wanted.what());
    return kSuccess;
  } catch (const CLI::ParseError& error) {
    wrong = error.what();
  }
  // An unknown option explains more than what is missing because of it.
  if (const std::string extra = parser_->take_rest(); !extra.empty()) {
    wrong = extra;
  }
  return wrong.empty() ? std::nullopt : std::optional(mistake(wrong));
}

int CommandLine::mistake(std::string_view message) const {
  if (parser_->json_asked_for || (parser_->json != nullptr && *parser_->json)) {
    const base::Error error{base::ErrorCode::invalid_argument, std::string(message)};
    write_error(to_line({{"error", to_json(error)}}) + "\n");
    return kUsage;
  }
  write_error(fmt::format("{0}: {1}\nSee '{0} --help'.\n", parser_->command,
                          base::printable_message(message)));
  return kUsage;
}

}  // namespace holdfast::cli
