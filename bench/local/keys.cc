#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "bench/local/keys.h"

namespace holdfast::bench {

namespace {

// A fixed seed: every run, and every contender in it, sees the same draws.
std::mt19937_64 random_for(std::size_t thread) { return std::mt19937_64{20'240'229 + thread}; }

}  // namespace

Keys make_keys(std::string_view prefix, std::size_t count) {
  Keys keys;
  keys.reserve(count);
  for (std::size_t i = 0; i < count; ++i) keys.push_back(fmt::format("{}{:06}", prefix, i));
  return keys;
}

std::vector<Ring<std::string>> warm_rings(const Keys& keys, std::size_t threads) {
  std::vector<Ring<std::string>> rings;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    auto random = random_for(thread);
    std::uniform_int_distribution<std::size_t> pick(0, keys.size() / threads - 1);
    std::vector<std::string> texts;
    texts.reserve(kWarmDraws);
    for (std::size_t i = 0; i < kWarmDraws; ++i) {
      texts.push_back(keys[pick(random) * threads + thread]);
    }
    rings.emplace_back(std::move(texts));
  }
  return rings;
}

std::vector<Ring<MixedDraw>> zipf_rings(const Keys& keys, std::size_t threads) {
  constexpr double kExponent = 0.99;
  constexpr double kExclusiveShare = 0.1;

  std::vector<double> up_to(keys.size());  // the weight of this key and all before it
  double sum = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    sum += std::pow(static_cast<double>(i + 1), -kExponent);
    up_to[i] = sum;
  }

  std::vector<Ring<MixedDraw>> rings;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    auto random = random_for(thread);
    std::uniform_real_distribution<double> weight(0, sum);
    std::bernoulli_distribution exclusive(kExclusiveShare);
    std::vector<MixedDraw> draws(kWarmDraws);
    std::ranges::generate(draws, [&] {
      const auto found = std::ranges::upper_bound(up_to, weight(random));
      const auto index = std::min(static_cast<std::size_t>(found - up_to.begin()), keys.size() - 1);
      return MixedDraw{.key = keys[index], .exclusive = exclusive(random)};
    });
    rings.emplace_back(std::move(draws));
  }
  return rings;
}

Ring<const std::string*> cold_ring(const Keys& keys) {
  constexpr std::size_t kSize = std::size_t{1} << 20U;
  auto random = random_for(0);
  std::uniform_int_distribution<std::size_t> pick(0, keys.size() - 1);
  std::vector<const std::string*> draws(kSize);
  std::ranges::generate(draws, [&] { return &keys[pick(random)]; });
  return Ring(std::move(draws));
}

}  // namespace holdfast::bench
