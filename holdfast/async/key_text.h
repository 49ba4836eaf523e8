#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace holdfast::async {

// A key as the argument of an operation that may begin later than the call: an Asio operation
// begins when it is awaited.
//
// A temporary std::string is kept; everything else is only referenced, and must stay valid until
// the operation begins, which for `co_await` means to the end of the statement.
class KeyText {
 public:
  // Implicit, as a std::string_view would be.
  template <class Text>
    requires std::convertible_to<const Text&, std::string_view>
  KeyText(const Text& text)  // NOLINT(google-explicit-constructor)
      : text_(std::string_view(text)) {}
  KeyText(std::string&& text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] std::string_view view() const {
    const auto* kept = std::get_if<std::string>(&text_);
    return kept != nullptr ? std::string_view(*kept) : std::get<std::string_view>(text_);
  }

 private:
  std::variant<std::string_view, std::string> text_;
};

}  // namespace holdfast::async
