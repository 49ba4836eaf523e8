#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>

#include "apps/holdfast/cli/command_line.h"

namespace holdfast::cli {

// The limit of a wait for a name, and whether to report it: -n, -w and -q.
struct WaitOptions {
  bool not_at_all = false;
  std::optional<base::Duration> at_most{};
  bool quiet = false;

  void declare(CommandLine& line);
  [[nodiscard]] base::Result<void> check() const;
  // base::Duration::max(): without bound.
  [[nodiscard]] base::Duration wait() const;
};

// The options that `run` and `acquire` share: how much of a name to hold, for how long and why.
struct ClaimOptions {
  WaitOptions waiting{};
  bool shared = false;
  std::optional<store::Permits> permits{};
  base::Duration ttl = std::chrono::seconds(30);
  std::string owner{};
  std::string reason{};

  void declare(CommandLine& line);
  // Returns the options for a LockProvider, or an error if these are invalid.
  [[nodiscard]] base::Result<locks::AcquireOptions> options() const;
};

// Returns the owner label of another process of this user: user@host:pid.
[[nodiscard]] std::string owner_of_process(pid_t id);

// "2/5"
[[nodiscard]] base::Result<store::Permits> parse_permits(std::string_view text);

}  // namespace holdfast::cli
