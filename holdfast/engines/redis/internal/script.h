#pragma once

#include <string_view>

namespace holdfast::engines::redis::internal {

// A Lua script that the server runs as one step. The constants are made from the files in lua/.
struct Script {
  std::string_view sha;  // of the text: by it the server knows a script that it has seen
  std::string_view text;
};

}  // namespace holdfast::engines::redis::internal
