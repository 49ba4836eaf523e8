#include <utility>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/engines/open_store.h>
#include <holdfast/engines/store_url.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/session.h"

namespace holdfast::cli {

void GlobalOptions::declare(CommandLine& line) {
  line.option("--store", "URL", "The lock store (default: HOLDFAST_STORE, or a file in your home)",
              into(store));
  line.flag("--json", json, "Print JSON, see holdfast(1)");
  line.flag("-v,--verbose", verbose, "Log to standard error");
}

void GlobalOptions::declare_pass_password(CommandLine& line) {
  line.flag("--pass-password", pass_password,
            "Hand COMMAND the store's URL in HOLDFAST_STORE with its password");
}

std::string Session::url_for_command() const {
  return global_.pass_password ? location_.url : engines::without_password(location_.url);
}

base::Result<void> Session::open() {
  auto location = locate_store(global_.store);
  if (!location) {
    return std::unexpected(std::move(location).error());
  }
  location_ = *std::move(location);
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
  store_ = *std::move(opened);
  return {};
}

base::Logger Session::logger() {
  return global_.verbose ? console_.logger(base::LogLevel::debug) : base::Logger();
}

int Session::report(const base::Error& error) {
  if (global_.json) {
    console_.print(to_line({{"error", to_json(error)}}));
  } else {
    console_.print("holdfast: " + error.message);
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
