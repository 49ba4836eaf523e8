#include <holdfast/async/async_striped_key_lock.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <string>

#include <holdfast/base/error.h>

namespace holdfast::async {

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

AsyncStripedKeyLock::AsyncStripedKeyLock(std::size_t stripes, const AsyncKeyLockOptions& options)
    : mask_(checked_mask(stripes)), stripes_(options) {}

std::size_t AsyncStripedKeyLock::stripe_of(std::string_view key) const noexcept {
  return std::hash<std::string_view>{}(key)&mask_;
}

std::vector<local::StripeState> AsyncStripedKeyLock::snapshot() const {
  std::vector<local::StripeState> states;
  for (const local::KeyState& state : stripes_.snapshot()) {
    states.push_back({.stripe = std::stoul(state.key),
                      .exclusive = state.exclusive,
                      .readers = state.readers,
                      .waiting_exclusive = state.waiting_exclusive,
                      .waiting_shared = state.waiting_shared});
  }
  std::ranges::sort(states, {}, &local::StripeState::stripe);
  return states;
}

// At most seven digits, which a std::string stores without an allocation.
std::string AsyncStripedKeyLock::stripe_text(std::string_view key) const {
  return std::to_string(stripe_of(key));
}

KeyList AsyncStripedKeyLock::stripe_texts(const KeyList& keys) const {
  std::vector<std::string> texts;
  texts.reserve(keys.keys().size());
  for (const std::string& key : keys.keys()) texts.push_back(stripe_text(key));
  return texts;
}

}  // namespace holdfast::async
