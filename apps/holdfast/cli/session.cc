#include <chrono>
#include <cstdlib>
#include <utility>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/open_store.h>
#include <holdfast/engines/store_url.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/session.h"
#include "apps/holdfast/cli/text.h"

namespace holdfast::cli {

void GlobalOptions::declare(CommandLine& line) {
  line.option("--store", "STORE",
              "The lock store, or its name (default: HOLDFAST_STORE, or a file in your home)",
              into(store));
  line.flag("--json", json, "Print JSON, see holdfast(1)");
  line.counter("-v,--verbose", verbose,
               "Tell on standard error what happens; -vv: with times and details");
  line.report_as_json(json);
}

void GlobalOptions::declare_pass_password(CommandLine& line) {
  line.flag("--pass-password", pass_password,
            "Hand COMMAND the store's URL in HOLDFAST_STORE with its password");
}

std::string Session::url_for_command() const {
  std::string shown = engines::without_password(location_.url);
  if (global_.pass_password || shown == location_.url) {
    return location_.url;
  }
  return location_.name.empty() ? shown : location_.name;
}

base::Result<void> Session::open(Purpose purpose) {
  HOLDFAST_TRY_LET(auto location, locate_store(global_.store));
  location_ = std::move(location);
  unsetenv("HOLDFAST_PASSWORD");  // no command inherits it
  auto opened = engines::open_store(location_.url, logger());
  if (!opened) {
    base::Error error = std::move(opened).error();
    if (error.code == base::ErrorCode::conflict) {
      error.code = base::ErrorCode::unavailable;  // a file of another program: no store
    }
    error.message = fmt::format("{} (the store is {}, from {})", error.message,
                                engines::without_password(location_.url), location_.origin);
    return std::unexpected(std::move(error));
  }
  if (purpose == Purpose::share && !(*opened)->capabilities().cross_process) {
    return base::fail(base::ErrorCode::invalid_argument,
                      fmt::format("no other process sees the locks of {} (from {}): use another "
                                  "store, such as sqlite:/path/to/file.db",
                                  engines::without_password(location_.url), location_.origin));
  }
  store_ = *std::move(opened);
  return {};
}

base::Logger Session::logger() {
  if (global_.verbose == 0) {
    return {};
  }
  return base::Logger(
      [this](base::LogLevel level, std::string_view text) {
        console_.print(fmt::format("{}holdfast {}: {}", stamp(), base::to_string(level), text));
      },
      global_.verbose > 1 ? base::LogLevel::debug : base::LogLevel::warning);
}

std::string Session::stamp() const {
  return global_.verbose > 1 ? local_time(std::chrono::system_clock::now()) + " " : "";
}

void Session::say(std::string_view text) {
  console_.print(fmt::format("{}holdfast: {}", stamp(), text));
}

void Session::tell(std::string_view event, std::string_view name, std::string_view text) {
  if (global_.verbose == 0) {
    return;
  }
  if (global_.json) {
    console_.print(to_line({{"event", event},
                            {"time", utc_time(std::chrono::system_clock::now())},
                            {"name", name},
                            {"message", text}}));
  } else {
    say(text);
  }
}

int Session::report(const base::Error& error) {
  if (global_.json) {
    console_.print(to_line({{"error", to_json(error)}}));
  } else {
    say(error.message);
  }
  return exit_status(error.code);
}

int Session::report(std::string_view name, const base::Error& error) {
  if (error.code != base::ErrorCode::conflict) {
    return report(error);
  }
  // To look at a lock conflicts with nothing.
  const auto state = store_->look(name, answer_deadline());
  if (state || state.error().code != base::ErrorCode::conflict) {
    return report(error);
  }
  return report(
      {base::ErrorCode::unavailable,
       fmt::format("{} cannot be locked: {}", base::printable(name), state.error().message)});
}

base::Deadline answer_deadline() {
  return base::Deadline::after(base::steady_clock(), std::chrono::seconds(10));
}

}  // namespace holdfast::cli
