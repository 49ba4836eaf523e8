#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/waiters.h>
#include <holdfast/store/outcome.h>

// The output for programs: the schema that holdfast.1 documents under "JSON". Keys are in the order
// in which they are set; durations are milliseconds; a fencing token is a number.
namespace holdfast::cli {

struct JsonMember;

// A JSON value, kept as its text: the command only ever writes JSON. Braces make an object:
// `Json{{"name", name}, {"held", true}}`.
class Json {
 public:
  // NOLINTBEGIN(google-explicit-constructor): a value converts where JSON is expected.
  Json(std::nullptr_t = nullptr) : text_("null") {}
  template <std::same_as<bool> T>
  Json(T value) : text_(value ? "true" : "false") {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Json(T value) : text_(std::to_string(value)) {}
  Json(double value);
  // Bytes that are not UTF-8 become U+FFFD.
  Json(std::string_view value);
  Json(const std::string& value) : Json(std::string_view(value)) {}
  Json(const char* value) : Json(std::string_view(value)) {}
  Json(std::initializer_list<JsonMember> members);
  // NOLINTEND(google-explicit-constructor)
  [[nodiscard]] static Json array();

  // Appends to an array.
  void push_back(const Json& value);
  // Appends the members of another object to those of this one.
  void update(const Json& object);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  void append(std::string_view piece);

  std::string text_;
};

struct JsonMember {
  std::string_view key;
  Json value;
};

[[nodiscard]] double to_ms(base::Duration value) noexcept;
// Null stands for "all".
[[nodiscard]] Json permits_json(std::uint32_t count);

[[nodiscard]] Json to_json(const base::Error& error);
[[nodiscard]] Json to_json(const store::Holder& holder);
[[nodiscard]] Json to_json(const locks::Waiter& waiter);
[[nodiscard]] Json to_json(const std::vector<locks::Waiter>& waiters);
// `kind_without_holders`: null if it is empty.
[[nodiscard]] Json to_json(std::string_view name, const std::optional<store::NameState>& state,
                           std::string_view kind_without_holders = {});

// Returns one line without its end, safe for a terminal: characters that could change how it is
// shown are escaped.
[[nodiscard]] std::string to_line(const Json& value);
// Writes a line to standard output.
void print_line(const Json& value);

}  // namespace holdfast::cli
