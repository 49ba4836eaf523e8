#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::engines::redis::internal {

// The server's answer to one command: an owning value. An error is a value too: the server
// understood the question and said no; its text begins with a word such as ERR, NOSCRIPT or OOM.
//
// Each accessor is for the kinds named beside it; of another kind it returns zero or empty.
class Reply {
 public:
  enum class Kind : std::uint8_t { nil, integer, string, status, error, array };

  Reply() noexcept = default;
  [[nodiscard]] static Reply of_integer(std::int64_t value) { return {Kind::integer, value}; }
  // `kind` is string, status or error.
  [[nodiscard]] static Reply of_text(Kind kind, std::string text) {
    return {kind, std::move(text)};
  }
  [[nodiscard]] static Reply of_array(std::vector<Reply> elements) {
    return {Kind::array, std::move(elements)};
  }

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] bool is_nil() const noexcept { return kind_ == Kind::nil; }
  [[nodiscard]] bool is_error() const noexcept { return kind_ == Kind::error; }
  // An error whose first word is `word`.
  [[nodiscard]] bool is_error(std::string_view word) const noexcept;

  [[nodiscard]] std::int64_t integer() const noexcept;                // integer
  [[nodiscard]] const std::string& text() const noexcept;             // string, status, error
  [[nodiscard]] const std::vector<Reply>& elements() const noexcept;  // array
  // Moves the text out, for callers that take the reply apart.
  [[nodiscard]] std::string take_text() noexcept;
  [[nodiscard]] std::vector<Reply> take_elements() noexcept;

  // Returns its size on the wire; zero for a part of another reply.
  [[nodiscard]] std::size_t wire_size() const noexcept { return wire_size_; }

  // Compares what was answered, not how many bytes that took.
  friend bool operator==(const Reply& one, const Reply& other) {
    return one.kind_ == other.kind_ && one.value_ == other.value_;
  }

 private:
  friend class ReplyReader;
  using Value = std::variant<std::monostate, std::int64_t, std::string, std::vector<Reply>>;
  Reply(Kind kind, Value value) : kind_(kind), value_(std::move(value)) {}

  Kind kind_ = Kind::nil;
  std::uint32_t wire_size_ = 0;
  Value value_;
};

}  // namespace holdfast::engines::redis::internal
