#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "apps/holdfast/doctor/ttl_advice.h"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::array<base::Duration, 6> kUsual = {5s, 10s, 30s, 1min, 5min, 1h};

double false_losses(base::Duration ttl, base::Duration longest, std::size_t samples) {
  using Seconds = std::chrono::duration<double>;
  constexpr double kYear = Seconds(365 * 24h).count();
  // The longest of n exponential times is about ln(n) times their mean.
  const double mean =
      Seconds(longest).count() / std::max(1.0, std::log(static_cast<double>(samples)));
  const double seconds = Seconds(ttl).count();
  const double renewals = kYear / (seconds / 3);
  return renewals * std::exp(-(seconds * 2 / 3) / std::max(mean, 1e-9));
}

}  // namespace

Latency latency_of(std::vector<base::Duration> samples) {
  std::ranges::sort(samples);
  return samples.empty() ? Latency{} : Latency{samples[samples.size() / 2], samples.back()};
}

TtlAdvice advise_ttl(const Latency& latency, std::size_t samples) {
  constexpr double kRare = 1e-6;
  for (const base::Duration ttl : kUsual) {
    const double losses = false_losses(ttl, latency.longest, samples);
    if (losses < kRare) {
      return {ttl, losses};
    }
  }
  return {kUsual.back(), false_losses(kUsual.back(), latency.longest, samples)};
}

}  // namespace holdfast::cli
