#include <holdfast/engines/redis/internal/held_mutex.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>

#include <holdfast/base/ids.h>
#include <holdfast/base/saturate.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::engines::redis::internal {

namespace {

// The same as in record.lua.
constexpr std::int64_t kGreatest = 9'007'199'254'740'991;
constexpr std::int64_t kFurthestAhead = std::int64_t{366} * 86'400 * 1'000'000;

// Takes the text up to the next space off the front.
std::string_view next_word(std::string_view& rest) {
  const std::size_t size = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, size);
  rest.remove_prefix(std::min(size + 1, rest.size()));
  return word;
}

// Returns nullopt for a text that we do not write.
std::optional<std::int64_t> next_number(std::string_view& rest) {
  const std::string_view word = next_word(rest);
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(word.begin(), word.end(), number);
  const bool is_number = error == std::errc() && end == word.end();
  return is_number && number >= 0 && number <= kGreatest ? std::optional(number) : std::nullopt;
}

base::Duration microseconds(std::int64_t count) {
  return std::clamp(base::to_duration(std::chrono::microseconds(count)), base::Duration::zero(),
                    store::LeaseStore::kMaxTtl);
}

}  // namespace

std::optional<store::NameState> held_mutex(const base::Name& name, std::string_view value,
                                           std::string_view note, std::int64_t now) {
  const auto token = next_number(note);
  const auto kept_until = next_number(note);
  const auto granted = next_number(note);
  const auto lasts = next_number(note);
  const std::string_view text = next_word(note);
  const auto id = base::LeaseId::parse(text);
  const auto owner = next_number(note);
  if (!token || !kept_until || !granted || !lasts || !id || !owner) {
    return std::nullopt;
  }
  const std::int64_t left = *granted + *lasts - now;
  // A lease without an owner was granted and is not confirmed yet.
  if (text != value || left <= 0 || *token > now + kFurthestAhead || *owner == 0 ||
      *owner > static_cast<std::int64_t>(note.size())) {
    return std::nullopt;
  }
  const auto size = static_cast<std::size_t>(*owner);
  return store::NameState{
      .name = name,
      .capacity = 1,
      .holders = {{.id = *id,
                   .owner = std::string(note.substr(0, size)),
                   .reason = std::string(note.substr(size)),
                   .permits = 1,
                   .token = base::FencingToken(static_cast<std::uint64_t>(*token)),
                   .held_for = microseconds(now - *granted),
                   .time_left = microseconds(left)}}};
}

}  // namespace holdfast::engines::redis::internal
