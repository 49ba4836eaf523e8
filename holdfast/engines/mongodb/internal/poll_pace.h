#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <holdfast/base/clock.h>

namespace holdfast::engines::mongodb::internal {

// The pause between two looks at the names that waiters wait for: it grows from `least` to `most`
// while no name is found free, faster with more names and after failures, and starts again at
// `least` when one is. Pure. Not thread-safe.
class PollPace {
 public:
  PollPace(base::Duration least, base::Duration most) noexcept
      : least_(least), most_(most), pause_(least) {}

  void found_something() noexcept { pause_ = least_; }
  void found_nothing(std::size_t names) noexcept {
    constexpr std::size_t kCounted = 16;
    const auto counted = static_cast<base::Duration::rep>(std::min(names, kCounted));
    grow(8 + counted);  // by an eighth for each name
  }
  void failed() noexcept { grow(16); }

  // Within a half below and above, so that many stores do not ask at the same moments.
  [[nodiscard]] base::Duration next(std::uint64_t random) const noexcept {
    const auto half = static_cast<std::uint64_t>(pause_.count()) / 2;
    const auto jitter = half == 0 ? 0 : random % (2 * half);
    return std::clamp(base::Duration(static_cast<base::Duration::rep>(half + jitter)), least_,
                      most_);
  }

 private:
  void grow(base::Duration::rep eighths) noexcept {
    pause_ = std::min(most_, pause_ * eighths / 8);
  }

  const base::Duration least_;
  const base::Duration most_;
  base::Duration pause_;
};

}  // namespace holdfast::engines::mongodb::internal
