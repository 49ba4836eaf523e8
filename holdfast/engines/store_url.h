#pragma once

#include <map>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>

namespace holdfast::engines {

// A store's URL in its parts: `scheme:rest?option=value&option=value`. Percent escapes are resolved
// in the rest and in the values.
struct StoreUrl {
  std::string scheme;
  std::string rest;
  std::map<std::string, std::string> options;

  [[nodiscard]] static base::Result<StoreUrl> parse(std::string_view text);
};

// The URL for people and logs: what stands as a password in `scheme://user:password@host` is
// hidden.
[[nodiscard]] std::string without_password(std::string_view url);

}  // namespace holdfast::engines
