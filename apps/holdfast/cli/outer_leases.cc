#include <algorithm>
#include <cstddef>
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

std::vector<base::LeaseId> ids_of(std::string_view leases) {
  std::vector<base::LeaseId> ids;
  while (!leases.empty()) {
    const std::size_t size = std::min(leases.find(' '), leases.size());
    if (const auto id = base::LeaseId::parse(leases.substr(0, size))) {
      ids.push_back(*id);
    }
    leases.remove_prefix(std::min(size + 1, leases.size()));
  }
  return ids;
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
