#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/base/clock.h>

#include "apps/holdfast/torture/history.h"

namespace holdfast::cli::torture {

// The faults that the nemesis knows.
enum class FaultKind : std::uint8_t {
  pause,
  kill,
  cut,
  delay,
  hang,
  drop,
  server_kill,
  server_pause,
  server_restart,
};

// The part of the run that a fault happens to.
enum class Target : std::uint8_t { worker, network, server };

struct FaultInfo {
  FaultKind kind;
  std::string_view name;
  Target target;
};

inline constexpr std::array<FaultInfo, 9> kFaults{{
    {FaultKind::pause, "pause", Target::worker},
    {FaultKind::kill, "kill", Target::worker},
    {FaultKind::cut, "cut", Target::network},
    {FaultKind::delay, "delay", Target::network},
    {FaultKind::hang, "hang", Target::network},
    {FaultKind::drop, "drop", Target::network},
    {FaultKind::server_kill, "server-kill", Target::server},
    {FaultKind::server_pause, "server-pause", Target::server},
    {FaultKind::server_restart, "server-restart", Target::server},
}};

[[nodiscard]] constexpr const FaultInfo& info_of(FaultKind kind) {
  return *std::ranges::find(kFaults, kind, &FaultInfo::kind);
}

// The choices of a run, the same for all of its processes.
struct Settings {
  std::string url{};         // of the store
  std::string worker_url{};  // of the proxy in front of it, if there is one
  std::vector<LockName> names{};
  base::Duration time = std::chrono::seconds(30);
  base::Duration ttl = std::chrono::seconds(2);
  std::size_t workers = 8;
  std::uint64_t seed = 0;
  bool fence = false;
  std::vector<FaultKind> faults{};
  std::filesystem::path folder{};  // of the registers
};

// Returns the file of a name's register.
[[nodiscard]] inline std::filesystem::path register_file(const Settings& settings,
                                                         std::uint32_t name) {
  return settings.folder / ("register-" + std::to_string(name));
}

}  // namespace holdfast::cli::torture
