#include <cstdint>
#include <cstdlib>

#include "apps/holdfast/cli/outer_leases.h"

namespace holdfast::cli {

std::string outer_leases() {
  const char* const leases = std::getenv("HOLDFAST_LEASES");
  return leases != nullptr ? leases : "";
}

std::string with_lease(std::string outer, const base::LeaseId& id) {
  if (!outer.empty()) {
    outer += ' ';
  }
  return outer + base::to_string(id);
}

bool waits_for_own(std::string_view leases, const store::NameState& state,
                   const store::Permits& wanted) {
  std::uint64_t own = 0;
  for (const store::Holder& holder : state.holders) {
    if (leases.find(base::to_string(holder.id)) != std::string_view::npos) {
      own += holder.permits;
    }
  }
  // A claim of another kind (alone beside shared) waits until all have released.
  const bool other_kind = state.capacity != wanted.capacity;
  return own > 0 && (other_kind || own + wanted.count > state.capacity);
}

}  // namespace holdfast::cli
