#include <holdfast/local/striped_key_lock.h>

#include <bit>
#include <set>
#include <string>

#include <holdfast/base/error.h>
#include <holdfast/base/random.h>
#include <holdfast/local/internal/key_probe.h>

namespace holdfast::local {

namespace {

constexpr std::size_t kMostStripes = std::size_t{1} << 20U;

std::size_t checked_mask(std::size_t stripes) {
  if (stripes == 0 || stripes > kMostStripes) {
    base::throw_error({base::ErrorCode::invalid_argument,
                       "the number of stripes is " + std::to_string(stripes) +
                           ": choose one from 1 to " + std::to_string(kMostStripes)});
  }
  return std::bit_ceil(stripes) - 1;
}

}  // namespace

StripedKeyLock::StripedKeyLock(std::size_t stripes)
    : seed_(base::random_u64()),
      mask_(checked_mask(stripes)),
      stripes_(new internal::StripeMutex[mask_ + 1]) {}

StripedKeyLock::~StripedKeyLock() = default;

std::size_t StripedKeyLock::stripe_of(std::string_view key) const noexcept {
  return internal::KeyProbe(key, seed_).hash & mask_;
}

internal::StripeMutex& StripedKeyLock::mutex(std::string_view key) noexcept {
  return stripes_[stripe_of(key)];
}

StripedKeyLock::MultiGuard StripedKeyLock::lock_all(std::span<const std::string_view> keys) {
  std::set<std::size_t> in_order;
  for (const std::string_view key : keys) {
    in_order.insert(stripe_of(key));
  }
  MultiGuard guard;
  guard.reserve(in_order.size());
  for (const std::size_t stripe : in_order) {
    guard.emplace_back(stripes_[stripe]);
  }
  return guard;
}

KeyLockStats StripedKeyLock::stats() const {
  KeyLockStats stats;
  for (std::size_t i = 0; i < stripes(); ++i) {
    stripes_[i].add_to(stats);
  }
  return stats;
}

std::vector<StripeState> StripedKeyLock::snapshot() const {
  std::vector<StripeState> states;
  for (std::size_t i = 0; i < stripes(); ++i) {
    StripeState state = stripes_[i].state();
    if (state != StripeState()) {
      state.stripe = i;
      states.push_back(state);
    }
  }
  return states;
}

}  // namespace holdfast::local
