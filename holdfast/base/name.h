#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>

namespace holdfast::base {

// The name of a lock: 1 to 1,024 bytes, any bytes, case-sensitive.
//
// A value type that owns its bytes. Names compare byte by byte; nothing is trimmed, folded or
// normalised, so two spellings that look alike are two names. A moved-from Name may only be
// assigned to or destroyed.
//
//   Result<Name> name = Name::make("invoice/2024-17");
class Name {
 public:
  static constexpr std::size_t kMaxSize = 1024;

  // Copies `bytes`; invalid_argument if they are empty or longer than kMaxSize.
  [[nodiscard]] static Result<Name> make(std::string_view bytes);

  [[nodiscard]] std::string_view view() const noexcept { return bytes_; }

  // Returns the name for logs: see printable.h. Not an identity: a long name is cut.
  [[nodiscard]] std::string printable() const;

  friend bool operator==(const Name&, const Name&) noexcept = default;
  friend std::strong_ordering operator<=>(const Name&, const Name&) noexcept = default;

 private:
  explicit Name(std::string_view bytes) : bytes_{bytes} {}

  std::string bytes_;
};

}  // namespace holdfast::base

template <>
struct std::hash<holdfast::base::Name> {
  std::size_t operator()(const holdfast::base::Name& name) const noexcept {
    return std::hash<std::string_view>{}(name.view());
  }
};
