#include <holdfast/metrics/name_group.h>

namespace holdfast::metrics {

std::string_view name_group(std::string_view name) noexcept {
  constexpr std::size_t kLongest = 64;
  name = name.substr(0, kLongest);
  return name.substr(0, name.find_first_of("/:"));
}

}  // namespace holdfast::metrics
