#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

// A finding of `doctor`.
struct Check {
  enum class Verdict : std::uint8_t {
    ok,
    warning,      // works, but somebody should know
    failed,       // does not work as promised
    unreachable,  // the store does not answer
  };

  std::string name;  // stable, for programs
  Verdict verdict = Verdict::ok;
  std::string detail;  // for people; says what to do where something is wrong
};

using Checks = std::vector<Check>;

// "ok", "warning", "failed"; unreachable is a failure, too.
[[nodiscard]] constexpr std::string_view to_string(Check::Verdict verdict) noexcept {
  switch (verdict) {
    case Check::Verdict::ok: return "ok";
    case Check::Verdict::warning: return "warning";
    case Check::Verdict::failed:
    case Check::Verdict::unreachable: break;
  }
  return "failed";
}

}  // namespace holdfast::cli
