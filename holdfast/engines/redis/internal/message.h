#pragma once

#include <optional>
#include <string_view>

#include <holdfast/base/ids.h>

namespace holdfast::engines::redis::internal {

// A message of the scripts to a store, through its channel.
//
//   hint <plain key>         the name may be free
//   grant <id> <plain key>   the name was granted to the claim with this id
//
// Anybody who may publish to the channel can send such a text, so it carries no token: the server's
// answer to the next claim says what is true.
struct Message {
  std::string_view plain;
  std::optional<base::LeaseId> granted;  // else it is a hint
};

// Returns nullopt if no script of ours writes such a text. Refers to the text.
[[nodiscard]] std::optional<Message> read_message(std::string_view text);

// A token in decimal digits, and nothing else.
[[nodiscard]] std::optional<base::FencingToken> read_token(std::string_view text);

}  // namespace holdfast::engines::redis::internal
