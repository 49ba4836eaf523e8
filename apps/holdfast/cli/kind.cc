#include <algorithm>

#include <holdfast/recipes/marker.h>
#include <holdfast/recipes/once.h>
#include <holdfast/recipes/throttle_options.h>

#include "apps/holdfast/cli/kind.h"

namespace holdfast::cli {

std::string_view kind_of(std::string_view name, const store::NameState& state) {
  if (std::ranges::any_of(state.holders, &store::Holder::foreign)) {
    return "foreign";
  }
  if (name.starts_with(mark_name(""))) {
    return "mark";
  }
  return name.starts_with(once_name("")) ? "once" : "lock";
}

std::string once_name(std::string_view key) { return recipes::OnceOptions().prefix.append(key); }

std::string mark_name(std::string_view key) { return recipes::MarkerOptions().prefix.append(key); }

std::string throttle_name(std::string_view key) {
  return recipes::ThrottleOptions().prefix.append(key);
}

}  // namespace holdfast::cli
