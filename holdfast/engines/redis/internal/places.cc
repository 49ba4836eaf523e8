#include <holdfast/engines/redis/internal/places.h>

#include <algorithm>
#include <utility>

namespace holdfast::engines::redis::internal {

std::string Places::key(std::string_view name, const base::LeaseId& id) {
  return to_string(id).append(name);
}

void Places::erase(Map::iterator place) {
  places_.erase(place);
  count_.store(places_.size(), std::memory_order_relaxed);
}

// Not each time: there may be many.
void Places::forget_the_gone(base::TimePoint now) {
  if (now - looked_through_ < kForgotten) {
    return;
  }
  looked_through_ = now;
  std::erase_if(places_, [&](const auto& place) { return now - place.second.seen > kForgotten; });
}

bool Places::enter(std::string_view name, const base::LeaseId& id, std::string member,
                   base::Duration lasts, base::TimePoint now) {
  const std::lock_guard guard(mutex_);
  forget_the_gone(now);
  const auto [place, is_new] =
      places_.try_emplace(key(name, id), Place{.member = {}, .lasts = lasts, .seen = now});
  place->second.member = std::move(member);
  place->second.lasts = std::min(place->second.lasts, lasts);
  place->second.seen = now;
  count_.store(places_.size(), std::memory_order_relaxed);
  return is_new;
}

bool Places::refuse(std::string_view name, const base::LeaseId& id, base::TimePoint sent,
                    std::optional<base::FencingToken> token) {
  if (is_empty()) {
    return false;
  }
  const std::lock_guard guard(mutex_);
  const auto place = places_.find(key(name, id));
  if (place == places_.end()) {
    return false;
  }
  place->second.refusal = token ? std::optional(Refusal{sent, *token}) : std::nullopt;
  return true;
}

void Places::give(std::string_view name, const base::LeaseId& id, base::FencingToken token) {
  const std::lock_guard guard(mutex_);
  if (const auto place = places_.find(key(name, id)); place != places_.end()) {
    place->second.given = token;
  }
}

std::optional<store::Grant> Places::take(std::string_view name, const base::LeaseId& id,
                                         base::TimePoint now) {
  if (is_empty()) {
    return std::nullopt;
  }
  const std::lock_guard guard(mutex_);
  const auto found = places_.find(key(name, id));
  if (found == places_.end()) {
    return std::nullopt;
  }
  Place& place = found->second;
  // Whoever does not get it now asks, and then knows more.
  const auto given = std::exchange(place.given, std::nullopt);
  if (!place.refusal || !given || *given <= place.refusal->token) {
    return std::nullopt;
  }
  const store::Grant grant{.token = *given, .time_left = place.lasts - (now - place.refusal->sent)};
  if (grant.time_left < place.lasts / 2) {
    return std::nullopt;
  }
  erase(found);
  return grant;
}

std::string Places::member(std::string_view name, const base::LeaseId& id) const {
  if (is_empty()) {
    return {};
  }
  const std::lock_guard guard(mutex_);
  const auto found = places_.find(key(name, id));
  return found == places_.end() ? std::string() : found->second.member;
}

std::string Places::leave(std::string_view name, const base::LeaseId& id) {
  if (is_empty()) {
    return {};
  }
  const std::lock_guard guard(mutex_);
  const auto found = places_.find(key(name, id));
  if (found == places_.end()) {
    return {};
  }
  std::string member = std::move(found->second.member);
  erase(found);
  return member;
}

}  // namespace holdfast::engines::redis::internal
