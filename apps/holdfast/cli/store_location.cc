#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/store_url.h>

#include "apps/holdfast/cli/config.h"
#include "apps/holdfast/cli/did_you_mean.h"
#include "apps/holdfast/cli/environment.h"
#include "apps/holdfast/cli/store_location.h"

namespace holdfast::cli {

namespace {

using base::ErrorCode;
using base::Result;
using std::filesystem::path;

// Does what `mkdir -p -m 700` does. Most of the time it is there.
bool make_folder(const path& folder) {
  if (mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST) {
    return true;
  }
  return errno == ENOENT && folder.has_relative_path() && make_folder(folder.parent_path()) &&
         (mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST);
}

std::string url_of_file(const path& file) {
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

base::Error unknown_store(const Config& config, const std::string& name) {
  std::vector<std::string> names;
  std::string all;
  for (const auto& [known, store] : config.stores) {
    names.push_back(known);
    all += (all.empty() ? "" : ", ") + base::printable(known);
  }
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) {
    hint = all.empty() ? ": no configuration file names one, so give a URL, as in "
                         "sqlite:/path/to/file.db"
                       : ": there are " + all;
  }
  return {ErrorCode::invalid_argument, "there is no store '" + base::printable(name) + "'" + hint};
}

Result<StoreLocation> named_store(const Config& config, const std::string& name) {
  const auto found = config.stores.find(name);
  if (found == config.stores.end()) {
    return std::unexpected(unknown_store(config, name));
  }
  HOLDFAST_TRY_LET(auto url, url_of(found->second));
  return StoreLocation{
      .url = std::move(url), .origin = name + " in " + found->second.file, .name = name};
}

// Returns the URL with the password of the environment, if there is one.
Result<std::string> with_password_of_environment(const std::string& url) {
  if (const std::string file = environment("HOLDFAST_PASSWORD_FILE"); !file.empty()) {
    HOLDFAST_TRY_LET(const auto password, read_password(file));
    return with_password(url, password);
  }
  const std::string password = environment("HOLDFAST_PASSWORD");
  return password.empty() ? url : with_password(url, password);
}

Result<StoreLocation> default_store() {
  const auto folder = xdg_folder("XDG_STATE_HOME", ".local/state");
  if (!folder) {
    return base::fail(
        ErrorCode::unavailable,
        "there is no home folder to keep locks in: set HOLDFAST_STORE or pass --store "
        "URL");
  }
  const path own = *folder / "holdfast";
  if (!make_folder(own)) {
    return base::fail(ErrorCode::unavailable,
                      "cannot make the folder " + own.string() + " (" +
                          std::generic_category().message(errno) +
                          "): set XDG_STATE_HOME or HOLDFAST_STORE, or pass --store URL");
  }
  return StoreLocation{.url = url_of_file(own / "locks.db"), .origin = "the default"};
}

}  // namespace

Result<StoreLocation> locate_store(const std::string& option) {
  const std::string text = option.empty() ? environment("HOLDFAST_STORE") : option;
  if (text.find(':') != std::string::npos) {
    HOLDFAST_TRY_LET(auto url, with_password_of_environment(text));
    return StoreLocation{.url = std::move(url),
                         .origin = option.empty() ? "HOLDFAST_STORE" : "--store",
                         .is_exposed = !option.empty() && engines::without_password(text) != text};
  }
  HOLDFAST_TRY_LET(const auto config, read_config());
  const std::string& name = text.empty() ? config.default_store : text;
  return name.empty() ? default_store() : named_store(config, name);
}

}  // namespace holdfast::cli
