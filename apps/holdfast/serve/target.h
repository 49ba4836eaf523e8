#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>

namespace holdfast::cli::serve {

// The target of a request, `/path?key=value&key=value`, with its percent escapes resolved. A name
// may have any bytes, so it is always a value and never a part of the path.
struct Target {
  std::string path;
  std::map<std::string, std::string, std::less<>> query;

  // Fails with invalid_argument if it is no path, or has an invalid escape or a key twice.
  [[nodiscard]] static base::Result<Target> parse(std::string_view text);

  // Returns the value of a key; null if there is none.
  [[nodiscard]] const std::string* find(std::string_view key) const;
  // Returns the whole number of a key, `otherwise` if there is none; fails beyond `most`.
  [[nodiscard]] base::Result<std::uint64_t> number(std::string_view key, std::uint64_t otherwise,
                                                   std::uint64_t most) const;
};

// Escapes every byte except ASCII letters, digits and -._~ so that any name is one value of a URL:
// the `id` of a name, which is exact where the name is not UTF-8.
[[nodiscard]] std::string id_of(std::string_view name);

}  // namespace holdfast::cli::serve
