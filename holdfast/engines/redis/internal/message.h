#pragma once

#include <optional>
#include <string_view>

#include <holdfast/base/ids.h>

namespace holdfast::engines::redis::internal {

// What the scripts tell a store through its channel.
//
//   hint <plain key>                 the name may be free
//   grant <token> <id> <plain key>   the name was given to the claim with this id
struct Message {
  struct Given {
    base::FencingToken token;
    base::LeaseId id;
  };

  std::string_view plain;
  std::optional<Given> given;  // else it is a hint
};

// Nothing if no script of ours writes such a text. Refers to the text.
[[nodiscard]] std::optional<Message> read_message(std::string_view text);

// A token in decimal digits, and nothing else.
[[nodiscard]] std::optional<base::FencingToken> read_token(std::string_view text);

}  // namespace holdfast::engines::redis::internal
