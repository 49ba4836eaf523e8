#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/log.h>
#include <holdfast/store/lease_store.h>

#include "apps/holdfast/cli/command_line.h"
#include "apps/holdfast/cli/console.h"
#include "apps/holdfast/cli/service_manager.h"
#include "apps/holdfast/cli/store_location.h"

namespace holdfast::cli {

// The options that every command understands.
struct GlobalOptions {
  std::string store{};
  bool json = false;
  int verbose = 0;
  bool pass_password = false;

  void declare(CommandLine& line);
  // For the commands that run one.
  void declare_pass_password(CommandLine& line);
};

// A command as it was called.
struct Invocation {
  GlobalOptions global;  // those before the name of the command
  Arguments arguments;   // what follows it
};

// The purpose for which a command opens a store.
enum class Purpose : std::uint8_t { share, examine };

// The tools of a command: the console and, once opened, the store. Lives as long as the command.
class Session {
 public:
  explicit Session(const GlobalOptions& global) : global_(global) {}

  // Opens the store that the options, the environment or the default name. A store that other
  // processes do not see is an error, except for a command that only examines it.
  [[nodiscard]] base::Result<void> open(Purpose purpose = Purpose::share);

  // These need a session that was opened.
  [[nodiscard]] const StoreLocation& location() const noexcept { return location_; }
  [[nodiscard]] const std::shared_ptr<store::LeaseStore>& store() const noexcept { return store_; }

  // Returns the store for the environment of a command: its URL if that has no secrets or if the
  // user wants the command to have them, else its name, else its URL without them.
  [[nodiscard]] std::string url_for_command() const;

  [[nodiscard]] bool json() const noexcept { return global_.json; }
  [[nodiscard]] bool verbose() const noexcept { return global_.verbose > 0; }
  [[nodiscard]] Console& console() noexcept { return console_; }
  // Nobody, unless this process is a service: see serve().
  [[nodiscard]] ServiceManager& service() noexcept { return service_; }
  // Lets the service manager that the environment names know how this process fares.
  void serve() { service_ = ServiceManager::from_environment(); }
  [[nodiscard]] base::Logger logger();

  // Prints a line for people on the error stream; with -vv it begins with the time.
  void say(std::string_view text);
  // With -v, tells what has happened to a name: `event` is one word, for programs.
  void tell(std::string_view event, std::string_view name, std::string_view text);

  // Reports the error on the error stream, as JSON with --json. Returns the exit code.
  int report(const base::Error& error);
  // Reports an error of an operation on this name. Where the store keeps something that is no lock
  // at the name, the error is `unavailable` and names it, whatever the operation was.
  int report(std::string_view name, const base::Error& error);

 private:
  // Returns the time and a space with -vv, else nothing.
  [[nodiscard]] std::string stamp() const;

  const GlobalOptions global_;
  Console console_;
  ServiceManager service_;
  StoreLocation location_;
  std::shared_ptr<store::LeaseStore> store_;
};

// Returns the deadline of the store for one answer.
[[nodiscard]] base::Deadline answer_deadline();

}  // namespace holdfast::cli
