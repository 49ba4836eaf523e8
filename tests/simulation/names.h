#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tests/simulation/random.h>

#include <holdfast/store/waiting_name.h>

namespace holdfast::simulation {

// Those that callers acquire, and beside each the one at which its waiters show themselves.
inline constexpr int kAcquired = 3;
inline constexpr std::array<std::string_view, 6> kNames{
    "a", "b", "c", "holdfast.waiting/a", "holdfast.waiting/b", "holdfast.waiting/c"};

[[nodiscard]] constexpr std::string_view name_of(int number) noexcept {
  return kNames[static_cast<std::size_t>(number)];
}
[[nodiscard]] constexpr int number_of(std::string_view name) noexcept {
  return name.back() - 'a' + (store::is_waiting_name(name) ? kAcquired : 0);
}

// The use that the callers of a history make of a name.
enum class KindOfName : std::uint8_t { mutex, semaphore, readers_and_writer };

[[nodiscard]] constexpr KindOfName kind_of_name(std::uint64_t seed, int name) noexcept {
  const std::uint64_t drawn = mix(seed ^ 0x9a3e, static_cast<std::uint64_t>(name)) % 10;
  return drawn < 6   ? KindOfName::mutex
         : drawn < 8 ? KindOfName::semaphore
                     : KindOfName::readers_and_writer;
}

}  // namespace holdfast::simulation
