#include <holdfast/engines/redis/internal/message.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace holdfast::engines::redis::internal {

namespace {

// Takes it off the text, with the blank behind it.
std::string_view next_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

}  // namespace

std::optional<Message> read_message(std::string_view text) {
  const std::string_view kind = next_word(text);
  if (kind == "hint") {
    return Message{.plain = text, .granted = {}};
  }
  if (kind != "grant") {
    return std::nullopt;
  }
  const auto id = base::LeaseId::parse(next_word(text));
  if (!id) {
    return std::nullopt;
  }
  return Message{.plain = text, .granted = *id};
}

std::optional<base::FencingToken> read_token(std::string_view text) {
  std::uint64_t token = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), token);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return base::FencingToken(token);
}

}  // namespace holdfast::engines::redis::internal
