#include <charconv>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/printable.h>

#include "apps/holdfast/cli/command_line.h"
#include "apps/holdfast/cli/exit_status.h"
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
  const auto value = base::parse_duration(text);
  if (!value) {
    return std::unexpected(value.error());
  }
  target = *value;
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
    const auto id = base::LeaseId::parse(text);
    if (!id) {
      return std::unexpected(id.error());
    }
    target = *id;
    return {};
  };
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
  }

  void take_rest() const {
    if (rest == nullptr) {
      return;
    }
    *rest = app.remaining();
    if (!rest->empty() && rest->front() == "--") {
      rest->erase(rest->begin());
    } else if (!rest->empty() && rest->front().starts_with('-')) {
      throw CLI::ExtrasError({rest->front()});
    }
  }

  std::string command;
  CLI::App app;
  Arguments* rest = nullptr;
};

CommandLine::CommandLine(const Help& help) : parser_(std::make_unique<Parser>(help)) {}
CommandLine::~CommandLine() = default;

void CommandLine::flag(const std::string& spelling, bool& target, const std::string& about) {
  parser_->app.add_flag(spelling, target, about);
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
  parser_->app.set_version_flag("--version", text, "Print the version and exit");
}

void CommandLine::rest(Arguments& target) {
  parser_->app.prefix_command();
  parser_->rest = &target;
}

std::optional<int> CommandLine::parse(const Arguments& arguments) {
  try {
    parser_->app.parse(Arguments(arguments.rbegin(), arguments.rend()));
    parser_->take_rest();
  } catch (const CLI::Success& wanted) {
    return parser_->app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    return mistake(error.what());
  }
  return std::nullopt;
}

int CommandLine::mistake(std::string_view message) const {
  write_error(fmt::format("{0}: {1}\nSee '{0} --help'.\n", parser_->command,
                          base::printable_message(message)));
  return kUsage;
}

}  // namespace holdfast::cli
