#pragma once

#include <cstdint>

namespace holdfast::base {

// A mark that knows whether this is still the process that made it. Checking costs one memory read,
// and detects every kind of fork.
class ProcessMark {
 public:
  ProcessMark() noexcept : mark_(current()) {}
  [[nodiscard]] bool is_inherited() const noexcept { return mark_ != current(); }

 private:
  static std::uint64_t current() noexcept;

  std::uint64_t mark_;
};

}  // namespace holdfast::base
