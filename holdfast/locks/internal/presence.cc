#include <holdfast/locks/internal/presence.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <system_error>

#include <holdfast/base/name.h>
#include <holdfast/store/waiting_name.h>

namespace holdfast::locks::internal {

namespace {

// More would leave no room for a reason.
constexpr std::size_t kMostHeld = 20;

// The waiter's wish, how long it has waited in ms, what it holds, and its reason:
//
//   1/1 1003 0123456789abcdef0123456789abcdef,… deploy 812
std::string text_of(const store::Claim& claim, std::span<const base::LeaseId> holding,
                    base::Duration waited) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(waited).count();
  std::string text = std::to_string(claim.permits.count) + '/' +
                     std::to_string(claim.permits.capacity) + ' ' + std::to_string(ms) + ' ';
  for (const base::LeaseId& id : holding.first(std::min(holding.size(), kMostHeld))) {
    text += base::to_string(id) + ',';
  }
  text += ' ';
  return text.append(claim.reason.substr(0, store::Claim::kMaxReason - text.size()));
}

// Takes what the text begins with, up to this character and with it. Nothing is taken if there is
// no such character.
std::optional<std::string_view> take_until(char end, std::string_view& text) {
  const std::size_t size = text.find(end);
  if (size == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(size + 1);
  return taken;
}

template <class Number>
std::optional<Number> take_number_until(char end, std::string_view& text) {
  const auto digits = take_until(end, text);
  Number number = 0;
  if (!digits) {
    return std::nullopt;
  }
  const char* const last = digits->data() + digits->size();
  const auto [after, error] = std::from_chars(digits->data(), last, number);
  return error == std::errc() && after == last ? std::optional(number) : std::nullopt;
}

// Reads what text_of() has written. Returns false if it is something else.
bool read_text(std::string_view text, Waiter& waiter) {
  const auto count = take_number_until<std::uint32_t>('/', text);
  const auto capacity = take_number_until<std::uint32_t>(' ', text);
  const auto waited = take_number_until<std::uint32_t>(' ', text);
  auto held = take_until(' ', text);
  if (!count || !capacity || !waited || !held || !store::Permits{*count, *capacity}.valid()) {
    return false;
  }
  std::vector<base::LeaseId> holding;
  while (!held->empty()) {
    const auto id = base::LeaseId::parse(take_until(',', *held).value_or(""));
    if (!id) {
      return false;
    }
    holding.push_back(*id);
  }
  waiter.wants = {*count, *capacity};
  waiter.waited += std::chrono::milliseconds(*waited);
  waiter.holding = std::move(holding);
  waiter.reason = text;
  return true;
}

base::Duration renewal_of(bool holds_others) noexcept {
  using namespace std::chrono_literals;
  return holds_others ? base::Duration(500ms) : base::Duration(15s);
}

}  // namespace

Presence::Presence(std::string_view name, const store::Claim& claim,
                   std::span<const base::LeaseId> holding, base::Duration waited)
    : name_(store::waiting_name(name)),
      text_(text_of(claim, holding, waited)),
      renew_every_(renewal_of(!holding.empty())),
      claim_{.id = claim.id,
             .owner = claim.owner,
             .reason = text_,
             .ttl = ttl(!holding.empty()),
             .permits = store::Permits::reader()} {}

bool Presence::fits(std::string_view name) noexcept {
  return store::kWaitingPrefix.size() + name.size() <= base::Name::kMaxSize;
}

base::Duration Presence::ttl(bool holds_others) noexcept {
  using namespace std::chrono_literals;
  return holds_others ? base::Duration(5s) : base::Duration(45s);
}

Waiter waiter_from(std::string_view name, const store::Holder& presence) {
  Waiter waiter{.name = std::string(name),
                .id = presence.id,
                .owner = presence.owner,
                .reason = presence.reason,
                .wants = {},
                .holding = {},
                .waited = presence.held_for,
                .seen_before = {}};
  read_text(presence.reason, waiter);
  waiter.seen_before = Presence::ttl(!waiter.holding.empty()) - presence.time_left;
  return waiter;
}

}  // namespace holdfast::locks::internal
