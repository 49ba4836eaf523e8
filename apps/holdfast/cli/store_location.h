#pragma once

#include <string>

#include <holdfast/base/error.h>

namespace holdfast::cli {

// Which store is meant, and who said so.
struct StoreLocation {
  std::string url;
  std::string origin;  // "--store", "HOLDFAST_STORE", "the default", "prod in /etc/holdfast.conf"
  std::string name{};  // of a store that a configuration file names
  // Its password is an argument, which all users of the machine see in the list of processes.
  bool is_exposed = false;
};

// Finds `option` if it is not empty, else HOLDFAST_STORE, else the default of the configuration
// files, else `sqlite:` in the user's state folder, ${XDG_STATE_HOME:-~/.local/state}/holdfast,
// which is made if it is not there, for the user alone.
//
// A text without a colon is the name of a store (see config.h). A URL without a password gets that
// of HOLDFAST_PASSWORD_FILE or HOLDFAST_PASSWORD.
[[nodiscard]] base::Result<StoreLocation> locate_store(const std::string& option);

}  // namespace holdfast::cli
