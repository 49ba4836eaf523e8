#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include <pwd.h>

#include "apps/holdfast/cli/store_location.h"

namespace holdfast::cli {

namespace {

using base::ErrorCode;
using base::Result;
using std::filesystem::path;

std::string environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : "";
}

std::optional<path> home() {
  if (const std::string home = environment("HOME"); home.starts_with('/')) {
    return home;
  }
  const passwd* const user = getpwuid(geteuid());
  return user != nullptr ? std::optional<path>(user->pw_dir) : std::nullopt;
}

std::optional<path> state_folder() {
  // A relative path is to be ignored: the XDG Base Directory Specification says so.
  if (const std::string state = environment("XDG_STATE_HOME"); state.starts_with('/')) {
    return path(state) / "holdfast";
  }
  const auto own = home();
  return own ? std::optional(*own / ".local/state/holdfast") : std::nullopt;
}

// As `mkdir -p -m 700`. Most of the time it is there.
bool make_folder(const path& folder) {
  if (mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST) {
    return true;
  }
  return errno == ENOENT && folder.has_relative_path() && make_folder(folder.parent_path()) &&
         (mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST);
}

std::string url_of(const path& file) {
  std::string url = "sqlite:";
  for (const char c : file.native()) {
    if (c == '%') {
      url += "%25";
    } else if (c == '?') {
      url += "%3F";
    } else {
      url += c;
    }
  }
  return url;
}

}  // namespace

Result<StoreLocation> locate_store(const std::string& option) {
  if (!option.empty()) {
    return StoreLocation{option, "--store"};
  }
  if (const std::string url = environment("HOLDFAST_STORE"); !url.empty()) {
    return StoreLocation{url, "HOLDFAST_STORE"};
  }
  const auto folder = state_folder();
  if (!folder) {
    return base::fail(
        ErrorCode::unavailable,
        "there is no home folder to keep locks in: set HOLDFAST_STORE or pass --store "
        "URL");
  }
  if (!make_folder(*folder)) {
    return base::fail(ErrorCode::unavailable,
                      "cannot make the folder " + folder->string() + " (" +
                          std::generic_category().message(errno) +
                          "): set XDG_STATE_HOME or HOLDFAST_STORE, or pass --store URL");
  }
  return StoreLocation{url_of(*folder / "locks.db"), "the default"};
}

}  // namespace holdfast::cli
