#include <holdfast/objects/internal/lock_order.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ranges>
#include <vector>

namespace holdfast::objects::internal {

namespace {

// One lock that this thread holds, or, without a rank, the boundary to a method that it runs.
struct Held {
  const void* host;
  int rank;
};
constexpr int kUserCode = -1;

thread_local std::vector<Held> held;

const char* name_of(int rank) {
  switch (static_cast<Rank>(rank)) {
    case Rank::stop: return "stop";
    case Rank::key: return "key";
    case Rank::turn: return "turn";
    case Rank::save: return "save";
    case Rank::map: return "map";
  }
  return "unknown";
}

[[noreturn]] void refuse(int wanted, int inner) {
  std::fprintf(stderr,
               "holdfast: lock order violated: '%s' is taken while '%s' is held; the order of an "
               "ObjectHost is stop, key, turn, save, map\n",
               name_of(wanted), name_of(inner));
  std::abort();
}

void forget(const void* host, int rank) noexcept {
  const auto last = std::ranges::find_if(held | std::views::reverse, [&](const Held& entry) {
    return entry.host == host && entry.rank == rank;
  });
  if (last != held.rend()) {
    held.erase(std::next(last).base());
  }
}

}  // namespace

#ifdef NDEBUG
const bool LockOrder::kChecked = false;
#else
const bool LockOrder::kChecked = true;
#endif

void LockOrder::acquire(const void* host, Rank rank) {
  const int wanted = static_cast<int>(rank);
  for (const Held& entry : held | std::views::reverse) {
    if (entry.host != host) {
      continue;
    }
    if (entry.rank == kUserCode) {
      if (rank == Rank::stop) continue;  // locks held outside the method count, too
      break;
    }
    const bool is_next_key = rank == Rank::key && entry.rank == wanted;
    if (entry.rank >= wanted && !is_next_key) {
      refuse(wanted, entry.rank);
    }
  }
  held.push_back({host, wanted});
}

void LockOrder::release(const void* host, Rank rank) noexcept {
  forget(host, static_cast<int>(rank));
}

void LockOrder::enter_user_code(const void* host) {
  for (const Held& entry : held | std::views::reverse) {
    if (entry.host == host) {
      if (entry.rank == static_cast<int>(Rank::map)) {
        std::fputs("holdfast: lock order violated: user code runs under 'map'\n", stderr);
        std::abort();
      }
      break;
    }
  }
  held.push_back({host, kUserCode});
}

void LockOrder::leave_user_code(const void* host) noexcept { forget(host, kUserCode); }

}  // namespace holdfast::objects::internal
