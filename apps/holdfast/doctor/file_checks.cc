#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/core.h>

#include "apps/holdfast/doctor/file_checks.h"

namespace holdfast::cli {

namespace {

using std::filesystem::path;
using Verdict = Check::Verdict;

constexpr unsigned kPermissions = 07777;
constexpr long kFuse = 0x65735546;
constexpr long kSmb = 0x517B;
constexpr long kCifs = 0xFF534D42L;
constexpr long kSmb2 = 0xFE534D42L;

Check unknown(std::string name, const path& file) {
  return {
      std::move(name), Verdict::warning,
      fmt::format("cannot look at {}: {}", file.string(), std::generic_category().message(errno))};
}

Check check_mode(std::string name, const path& file) {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) {
    return unknown(std::move(name), file);
  }
  const std::string detail = fmt::format("{}, mode {:04o}, of user {}", file.string(),
                                         status.st_mode & kPermissions, status.st_uid);
  const bool anybody = (status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0;
  if (anybody) {
    return {std::move(name), Verdict::warning,
            detail + ": anybody may change it, so take that away with chmod o-w"};
  }
  const bool others = status.st_uid != geteuid() && status.st_uid != 0;
  return {std::move(name), Verdict::ok,
          others ? detail + ", who may take every lock away" : detail};
}

Check check_space(const path& folder) {
  constexpr std::uint64_t kMiB = std::uint64_t{1024} * 1024;
  constexpr std::uint64_t kLittle = 64 * kMiB;
  struct statvfs status{};
  if (statvfs(folder.c_str(), &status) != 0) {
    return unknown("free_space", folder);
  }
  const std::uint64_t room = std::uint64_t{status.f_bavail} * status.f_frsize;
  const std::string detail = fmt::format("{} MiB", room / kMiB);
  if (room >= kLittle) {
    return {"free_space", Verdict::ok, detail};
  }
  return {"free_space", room < kMiB ? Verdict::failed : Verdict::warning,
          detail + ": a full disk refuses every lock, make room"};
}

Check check_file_system(const path& folder) {
  struct statfs status{};
  if (statfs(folder.c_str(), &status) != 0) {
    return unknown("file_system", folder);
  }
  const auto type = static_cast<long>(status.f_type);
  if (type == NFS_SUPER_MAGIC || type == kSmb || type == kCifs || type == kSmb2) {
    return {"file_system", Verdict::failed,
            "a network file system: machines would not exclude each other, use a local folder"};
  }
  if (type == kFuse) {
    return {"file_system", Verdict::warning,
            "FUSE: if it is shared between machines, they do not exclude each other"};
  }
  return {"file_system", Verdict::ok, "of this machine"};
}

}  // namespace

Checks check_file(const path& file) {
  const path folder = std::filesystem::absolute(file).parent_path();
  return {check_mode("folder", folder), check_mode("file", file), check_space(folder),
          check_file_system(folder)};
}

}  // namespace holdfast::cli
