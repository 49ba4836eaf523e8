#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/fence/file_guard.h>

#include "apps/holdfast/torture/history.h"

namespace holdfast::cli::torture {

enum class Fenced : std::uint8_t { no, yes };

// The resource that a mutex protects: a file of versions, of which the last one counts. With a
// fence, reads and writes pass it first.
class Register {
 public:
  [[nodiscard]] static base::Result<Register> open(const std::filesystem::path& file,
                                                   Fenced fenced);

  // Returns the write that made the last version, 0 if there is none. `lost`: the fence refuses the
  // token.
  [[nodiscard]] base::Result<std::uint64_t> read(base::FencingToken token) const;
  // Adds a version. `lost`: the fence refuses its token, and nothing was written.
  [[nodiscard]] base::Result<void> write(const Version& version) const;

  // Returns all versions of a file, none if there is no such file.
  [[nodiscard]] static std::vector<Version> versions(const std::filesystem::path& file);

 private:
  Register(std::filesystem::path file, std::optional<fence::FileGuard> guard);

  // Returns the fence's permission, none without a fence.
  [[nodiscard]] base::Result<std::optional<fence::FilePass>> enter(base::FencingToken token) const;

  std::filesystem::path file_;
  std::optional<fence::FileGuard> guard_;
};

}  // namespace holdfast::cli::torture
