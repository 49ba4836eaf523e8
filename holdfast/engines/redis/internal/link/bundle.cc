#include <holdfast/engines/redis/internal/link/bundle.h>

#include <cstddef>
#include <string_view>

namespace holdfast::engines::redis::internal {

namespace {

constexpr std::string_view kLineEnd = "\r\n";

}  // namespace

bool may_be_joined(const Command& one, const Command& other) noexcept {
  return one.is_joinable() && other.is_joinable() && one.own_arguments() == other.own_arguments() &&
         one.parts().common == other.parts().common && one.parts().script == other.parts().script;
}

void append_joined(std::span<const Command* const> commands, std::string& bytes) {
  const Command& first = *commands.front();
  const std::string keys = std::to_string(Command::kKeys * commands.size());
  const std::size_t arguments =
      Command::kOthers + ((Command::kKeys + first.own_arguments()) * commands.size());
  bytes.append("*").append(std::to_string(arguments)).append(kLineEnd);
  bytes.append(first.parts().script);
  bytes.append("$").append(std::to_string(keys.size())).append(kLineEnd);
  bytes.append(keys).append(kLineEnd);
  for (const Command* const command : commands) {
    bytes.append(command->parts().keys);
  }
  bytes.append(first.parts().common);
  for (const Command* const command : commands) {
    bytes.append(command->parts().own);
  }
}

}  // namespace holdfast::engines::redis::internal
