#include <holdfast/engines/redis/internal/places.h>

#include <utility>

namespace holdfast::engines::redis::internal {

std::string Places::key(std::string_view name, const base::LeaseId& id) {
  return to_string(id).append(name);
}

void Places::erase(Map::iterator place) {
  places_.erase(place);
  count_.store(places_.size(), std::memory_order_relaxed);
}

bool Places::enter(std::string_view name, const base::LeaseId& id, std::string member,
                   base::Duration lasts) {
  const std::lock_guard guard(mutex_);
  const bool is_new =
      places_.try_emplace(key(name, id), Place{std::move(member), lasts, {}, {}}).second;
  count_.store(places_.size(), std::memory_order_relaxed);
  return is_new;
}

void Places::refuse(std::string_view name, const base::LeaseId& id, base::TimePoint sent,
                    std::optional<base::FencingToken> token) {
  const std::lock_guard guard(mutex_);
  if (const auto place = places_.find(key(name, id)); place != places_.end()) {
    place->second.refusal = token ? std::optional(Refusal{sent, *token}) : std::nullopt;
  }
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
  const Place& place = found->second;
  if (!place.refusal || !place.given || *place.given <= place.refusal->token) {
    return std::nullopt;
  }
  const store::Grant grant{.token = *place.given,
                           .time_left = place.lasts - (now - place.refusal->sent)};
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
