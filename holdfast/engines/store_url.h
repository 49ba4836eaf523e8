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

// Returns the URL for people and logs, without secrets: *** stands for the password of
// `scheme://user:password@host` and for the value of every option that is not known to be harmless.
// A text that does not have the form of a URL is not shown beyond its scheme.
[[nodiscard]] std::string without_password(std::string_view url);

}  // namespace holdfast::engines
