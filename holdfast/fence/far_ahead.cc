#include <holdfast/fence/far_ahead.h>

#include <cstdint>
#include <string>

namespace holdfast::fence {

bool is_far_ahead(base::FencingToken token) noexcept {
  using std::chrono::microseconds;
  const auto now =
      std::chrono::duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch());
  const microseconds furthest = now + kFurthestAhead;
  return furthest.count() < 0 || token.value() > static_cast<std::uint64_t>(furthest.count());
}

base::Result<void> check_not_far_ahead(base::FencingToken token) {
  if (!is_far_ahead(token)) {
    return {};
  }
  return base::fail(base::ErrorCode::invalid_argument,
                    "token " + to_string(token) + " is more than " +
                        std::to_string(kFurthestAhead.count()) +
                        " days ahead of this machine's clock: no store has minted it; check where "
                        "it comes from, and the clock");
}

}  // namespace holdfast::fence
