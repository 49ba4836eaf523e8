#include <holdfast/objects/internal/lock_order.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ranges>
#include <vector>

namespace holdfast::objects::internal {

namespace {

struct Held {
  const void* host;
  Rank rank;

  friend bool operator==(const Held&, const Held&) = default;
};

thread_local std::vector<Held> held;

const char* name_of(Rank rank) {
  constexpr const char* kNames[] = {"stop", "key", "turn", "save", "map", "user code"};
  return kNames[static_cast<std::size_t>(rank)];
}

[[noreturn]] void refuse(Rank wanted, Rank inner) {
  std::fprintf(stderr,
               "holdfast: lock order violated: '%s' is taken while '%s' is held; the order of an "
               "ObjectHost is stop, key, turn, save, map, and no user code runs under map\n",
               name_of(wanted), name_of(inner));
  std::abort();
}

}  // namespace

#ifdef NDEBUG
constinit bool LockOrder::checked = false;
#else
constinit bool LockOrder::checked = true;
#endif

void LockOrder::acquire(const void* host, Rank rank) {
  for (const Held& entry : held | std::views::reverse) {
    if (entry.host != host) {
      continue;
    }
    if (entry.rank == Rank::user) {
      if (rank == Rank::stop) continue;  // locks held outside the method count, too
      break;
    }
    const bool is_next_key = rank == Rank::key && entry.rank == Rank::key;
    const bool is_user_under_map = rank == Rank::user && entry.rank == Rank::map;
    if ((entry.rank >= rank && !is_next_key) || is_user_under_map) {
      refuse(rank, entry.rank);
    }
  }
  held.push_back({host, rank});
}

void LockOrder::release(const void* host, Rank rank) noexcept {
  const auto last = std::ranges::find(held | std::views::reverse, Held{host, rank});
  if (last != (held | std::views::reverse).end()) {
    held.erase(std::next(last).base());
  }
}

}  // namespace holdfast::objects::internal
