#include <holdfast/engines/redis/internal/connection/command.h>

#include <array>
#include <cassert>
#include <charconv>

namespace holdfast::engines::redis::internal {

namespace {

// The most digits of a size.
constexpr std::size_t kDigits = 20;

// `mark`, the number, and the end of the line.
struct Line {
  Line(char mark, std::size_t number) noexcept {
    text.front() = mark;
    char* end = std::to_chars(text.data() + 1, text.data() + text.size(), number).ptr;
    *end++ = '\r';
    *end++ = '\n';
    size = static_cast<std::size_t>(end - text.data());
  }

  std::array<char, kDigits + 3> text;
  std::size_t size;
};

// Returns the position after so many arguments: each is `$size`, then so many bytes, both with the
// end of a line.
std::size_t skip_arguments(std::string_view text, std::size_t at, std::size_t count) {
  constexpr std::size_t kLineEnd = 2;
  for (; count > 0; --count) {
    std::size_t size = 0;
    const auto digits = std::from_chars(text.data() + at + 1, text.data() + text.size(), size);
    at = static_cast<std::size_t>(digits.ptr - text.data()) + kLineEnd + size + kLineEnd;
  }
  return at;
}

}  // namespace

Command& Command::add(std::string_view argument) {
  const Line length('$', argument.size());
  bytes_.append(length.text.data(), length.size).append(argument).append("\r\n");
  ++arguments_;
  write_header();
  return *this;
}

void Command::write_header() {
  const Line header('*', arguments_);
  begin_ = kHeaderSpace - header.size;
  bytes_.replace(begin_, header.size, header.text.data(), header.size);
}

Command Command::with_text() const {
  Command result("EVAL", text_);
  result.bytes_.append(bytes_, skip_arguments(bytes_, kHeaderSpace, 2));
  result.arguments_ = arguments_;
  result.write_header();
  return result;
}

void Command::make_joinable() {
  assert(arguments_ >= kKeys + kOthers);
  count_at_ = skip_arguments(bytes_, kHeaderSpace, 2);
  keys_at_ = skip_arguments(bytes_, count_at_, 1);
  common_at_ = skip_arguments(bytes_, keys_at_, kKeys);
  own_at_ = skip_arguments(bytes_, common_at_, 1);
  own_end_ = bytes_.size();
  joined_ = arguments_;
}

Command::Parts Command::parts() const noexcept {
  const std::string_view text = bytes_;
  return {.script = text.substr(kHeaderSpace, count_at_ - kHeaderSpace),
          .keys = text.substr(keys_at_, common_at_ - keys_at_),
          .common = text.substr(common_at_, own_at_ - common_at_),
          .own = text.substr(own_at_, own_end_ - own_at_)};
}

std::string_view Command::bytes() const noexcept { return std::string_view(bytes_).substr(begin_); }

bool may_be_joined(const Command& one, const Command& other) noexcept {
  return one.is_joinable() && other.is_joinable() && one.own_arguments() == other.own_arguments() &&
         one.parts().common == other.parts().common && one.parts().script == other.parts().script;
}

void append_joined(std::span<const Command* const> commands, std::string& bytes) {
  const Command& first = *commands.front();
  const std::string keys = std::to_string(Command::kKeys * commands.size());
  const std::size_t arguments =
      Command::kOthers + ((Command::kKeys + first.own_arguments()) * commands.size());
  bytes.append("*").append(std::to_string(arguments)).append("\r\n");
  bytes.append(first.parts().script);
  bytes.append("$").append(std::to_string(keys.size())).append("\r\n");
  bytes.append(keys).append("\r\n");
  for (const Command* const command : commands) {
    bytes.append(command->parts().keys);
  }
  bytes.append(first.parts().common);
  for (const Command* const command : commands) {
    bytes.append(command->parts().own);
  }
}

}  // namespace holdfast::engines::redis::internal
