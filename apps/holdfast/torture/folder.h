#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/core.h>

#include <holdfast/base/error.h>

#include "apps/holdfast/cli/environment.h"

namespace holdfast::cli::torture {

// A folder that is removed with this object.
class Folder {
 public:
  [[nodiscard]] base::Result<void> make() {
    const std::string parent = environment("TMPDIR");
    std::string path = (parent.empty() ? "/tmp" : parent) + "/holdfast-torture-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) {
      return base::fail(
          base::ErrorCode::failed,
          fmt::format("cannot make a folder {}: {}", path, std::generic_category().message(errno)));
    }
    path_ = path;
    return {};
  }
  Folder() = default;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace holdfast::cli::torture
