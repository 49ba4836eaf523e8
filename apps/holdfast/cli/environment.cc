#include <unistd.h>

#include <cstdlib>

#include <pwd.h>

#include "apps/holdfast/cli/environment.h"

namespace holdfast::cli {

namespace {

using std::filesystem::path;

std::optional<path> home() {
  if (const std::string home = environment("HOME"); home.starts_with('/')) {
    return home;
  }
  const passwd* const user = getpwuid(geteuid());
  return user != nullptr ? std::optional<path>(user->pw_dir) : std::nullopt;
}

}  // namespace

std::string environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : "";
}

std::optional<path> xdg_folder(const char* variable, const char* otherwise) {
  if (const std::string folder = environment(variable); folder.starts_with('/')) {
    return folder;
  }
  const auto own = home();
  return own ? std::optional(*own / otherwise) : std::nullopt;
}

}  // namespace holdfast::cli
