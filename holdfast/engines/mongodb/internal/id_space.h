#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::engines::mongodb::internal {

// The _ids of names, and the names of _ids. Different names have different _ids.
//
//   name                                      _id
//   any valid UTF-8, such as nightly/backup   the prefix and the name: what other programs lock,
//   too other bytes, such as \xff                 the prefix, hf~ and the bytes in hexadecimal what
//   begins with hf~                      the same
//
// So the _ids of the second kind are in the order of their names, as are those of the first.
//
// Thread-safe: constant.
class IdSpace {
 public:
  static constexpr std::string_view kEscape = "hf~";
  // The least text that is greater than all that begin with kEscape.
  static constexpr std::string_view kAfterEscape = "hf\x7f";

  explicit IdSpace(std::string prefix) : prefix_(std::move(prefix)) {}

  [[nodiscard]] std::string id_of(std::string_view name) const;
  // Returns nullopt if the _id is not one of this space.
  [[nodiscard]] std::optional<std::string> name_of(std::string_view id) const;

  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }

  // The longest beginning that is valid UTF-8.
  [[nodiscard]] static std::string_view valid_beginning(std::string_view bytes) noexcept;
  [[nodiscard]] static std::string hexadecimal(std::string_view bytes);

 private:
  const std::string prefix_;
};

}  // namespace holdfast::engines::mongodb::internal
