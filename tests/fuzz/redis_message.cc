// Messages, and tokens in digits: a value that was read prints back and is read equal.
#include <string>

#include <tests/fuzz/fuzz.h>

#include <holdfast/engines/redis/internal/message.h>

using holdfast::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::engines::redis::internal;
  const std::string_view text = holdfast::fuzz::as_text(data, size);
  if (const auto message = read_message(text)) {
    const std::string again =
        (message->granted ? "grant " + to_string(*message->granted) + " " : std::string("hint ")) +
        std::string(message->plain);
    const auto second = read_message(again);
    require(second.has_value(), "a message that is printed back is one");
    require(second->plain == message->plain, "with the same key");
    require(second->granted == message->granted, "and the same grant");
  }
  if (const auto token = read_token(text)) {
    require(text.find_first_not_of("0123456789") == text.npos, "a token is digits alone");
    require(read_token(to_string(*token)) == token, "a token that is printed back is equal");
  }
  return 0;
}
