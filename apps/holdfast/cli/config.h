#pragma once

#include <map>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>

namespace holdfast::cli {

// A store that a configuration file names. At most one of the last two is set.
struct NamedStore {
  std::string url{};
  std::string password_file{};  // whose first line is the password
  std::string password_env{};   // the variable that has it
  std::string file{};           // that names this store
};

// The configuration: which stores have names, and which is used if none is asked for.
//
//   default = prod
//   [prod]
//   url = redis://app@redis.internal:6379
//   password_file = /etc/holdfast/redis.password
struct Config {
  std::string default_store{};
  std::map<std::string, NamedStore> stores{};
};

// Adds the text of a file to the configuration, of which it replaces what it says itself. An error
// (`invalid_argument`) names the file and the line.
[[nodiscard]] base::Result<void> add_config(Config& config, std::string_view text,
                                            const std::string& file);

// Reads /etc/holdfast.conf and then ${XDG_CONFIG_HOME:-~/.config}/holdfast/config; or, if
// HOLDFAST_CONFIG names a file, that one only. A file that does not exist says nothing.
[[nodiscard]] base::Result<Config> read_config();

// Returns the URL with its password put in.
[[nodiscard]] base::Result<std::string> url_of(const NamedStore& store);

// Returns the password in a file, its first line.
[[nodiscard]] base::Result<std::string> read_password(const std::string& file);
// Returns the URL with this password, unless it has one. The URL of a file has none.
[[nodiscard]] std::string with_password(const std::string& url, std::string_view password);

}  // namespace holdfast::cli
