#pragma once

#include <cstdint>
#include <iosfwd>
#include <string_view>

#include <holdfast/base/text_format.h>

namespace holdfast::locks {

// The life of a lock. From `acquired` it goes to `extending` and back with every renewal, and ends
// as `lost` or `released`, never as both.
enum class LockState : std::uint8_t {
  acquired,   // held; no renewal is under way
  extending,  // held; a renewal was sent and is not answered yet
  lost,       // exclusion can no longer be promised
  released,   // released or detached by its holder, or never acquired
};

// Returns the enumerator's name.
[[nodiscard]] std::string_view to_string(LockState state) noexcept;
std::ostream& operator<<(std::ostream& out, LockState state);

}  // namespace holdfast::locks

template <>
inline constexpr bool holdfast::base::kFormatsAsText<holdfast::locks::LockState> = true;
