#include <holdfast/engines/redis/internal/link/command.h>

#include <array>
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

}  // namespace

Command& Command::add(std::string_view argument) {
  const Line length('$', argument.size());
  bytes_.append(length.text.data(), length.size).append(argument).append("\r\n");
  const Line header('*', ++arguments_);
  begin_ = kHeaderSpace - header.size;
  bytes_.replace(begin_, header.size, header.text.data(), header.size);
  return *this;
}

std::string_view Command::bytes() const noexcept { return std::string_view(bytes_).substr(begin_); }

}  // namespace holdfast::engines::redis::internal
