#pragma once

#include <cmath>
#include <cstdint>

#include <holdfast/base/clock.h>

namespace holdfast::simulation {

// Mixes a number into a seed, so that streams that differ in one number have nothing in common.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t seed, std::uint64_t number) noexcept {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15U * (number + 1);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

// A stream of random numbers that only its seed decides: the same on every machine.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed) {}

  [[nodiscard]] constexpr std::uint64_t next() noexcept { return mix(state_, ++drawn_); }
  // Returns a number less than `end`.
  [[nodiscard]] constexpr std::uint64_t below(std::uint64_t end) noexcept { return next() % end; }
  // Returns a number from 0 to 1.
  [[nodiscard]] constexpr double fraction() noexcept {
    return static_cast<double>(next() >> 11U) * 0x1.0p-53;
  }
  [[nodiscard]] constexpr bool chance(double probability) noexcept {
    return fraction() < probability;
  }
  [[nodiscard]] base::Duration up_to(base::Duration most) noexcept { return between({}, most); }
  [[nodiscard]] base::Duration between(base::Duration least, base::Duration most) noexcept {
    return least + scaled(most - least, fraction());
  }
  // Is as likely between one and two as between ten and twenty.
  [[nodiscard]] base::Duration of_any_size(base::Duration least, base::Duration most) noexcept {
    const double ratio = static_cast<double>(most.count()) / static_cast<double>(least.count());
    return scaled(least, std::pow(ratio, fraction()));
  }

 private:
  static base::Duration scaled(base::Duration duration, double by) noexcept {
    return base::Duration(
        static_cast<base::Duration::rep>(static_cast<double>(duration.count()) * by));
  }

  std::uint64_t state_;
  std::uint64_t drawn_ = 0;
};

}  // namespace holdfast::simulation
