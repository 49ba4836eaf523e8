#pragma once

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
enum class FaultKind : std::uint8_t { pause, kill };

inline constexpr std::array<std::pair<FaultKind, std::string_view>, 2> kFaultNames{{
    {FaultKind::pause, "pause"},
    {FaultKind::kill, "kill"},
}};

// The choices of a run, the same for all of its processes.
struct Settings {
  std::string url{};  // of the store
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
