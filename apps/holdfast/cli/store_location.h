#pragma once

#include <string>

#include <holdfast/base/error.h>

namespace holdfast::cli {

// Which store is meant, and who said so.
struct StoreLocation {
  std::string url;
  std::string origin;  // "--store", "HOLDFAST_STORE" or "the default"
};

// `option` if it is not empty, else HOLDFAST_STORE, else `sqlite:` in the user's state folder,
// which is ${XDG_STATE_HOME:-~/.local/state}/holdfast. That folder is made if it is not there, for
// the user alone.
[[nodiscard]] base::Result<StoreLocation> locate_store(const std::string& option);

}  // namespace holdfast::cli
