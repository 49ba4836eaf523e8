#include <algorithm>

#include <holdfast/recipes/marker.h>
#include <holdfast/recipes/once.h>
#include <holdfast/recipes/options_for.h>
#include <holdfast/recipes/throttle_options.h>

#include "apps/holdfast/cli/kind.h"

namespace holdfast::cli {

namespace {

bool is_term(const store::Holder& holder) { return holder.reason == recipes::kLeads; }

}  // namespace

std::string_view kind_of(std::string_view name, const store::NameState& state) {
  if (std::ranges::any_of(state.holders, &store::Holder::foreign)) {
    return "foreign";
  }
  if (name.starts_with(mark_name(""))) {
    return "mark";
  }
  if (name.starts_with(once_name(""))) {
    return "once";
  }
  return std::ranges::all_of(state.holders, is_term) ? "election" : "lock";
}

bool is_throttle(std::string_view name) { return name.starts_with(throttle_name("")); }

std::string once_name(std::string_view key) { return recipes::OnceOptions().prefix.append(key); }

std::string mark_name(std::string_view key) { return recipes::MarkerOptions().prefix.append(key); }

std::string throttle_name(std::string_view key) {
  return recipes::ThrottleOptions().prefix.append(key);
}

}  // namespace holdfast::cli
