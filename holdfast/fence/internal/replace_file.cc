#include <holdfast/fence/internal/replace_file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include <holdfast/fence/internal/file_calls.h>

namespace holdfast::fence::internal {

namespace {

constexpr mode_t kPermissions = 0777;  // without setuid and setgid: the owner may differ
constexpr mode_t kOwnerAlone = 0600;
constexpr mode_t kAsUsual = 0666;

// Returns zero, or an errno.
int write_new(const std::filesystem::path& scratch, std::string_view bytes,
              const struct stat* before) {
  const auto descriptor =
      open_file(scratch, O_WRONLY | O_CREAT | O_EXCL, before != nullptr ? kOwnerAlone : kAsUsual);
  if (!descriptor) {
    return descriptor.error();
  }
  int error = write_all_at(*descriptor, bytes, 0);
  if (error == 0 && before != nullptr &&
      ::fchmod(*descriptor, before->st_mode & kPermissions) != 0) {
    error = errno;
  }
  if (error == 0 && ::fsync(*descriptor) != 0) {
    error = errno;
  }
  if (::close(*descriptor) != 0 && error == 0) {
    error = errno;
  }
  return error;
}

}  // namespace

base::Result<void> replace_file(const std::filesystem::path& file,
                                const std::filesystem::path& scratch, std::string_view bytes) {
  struct stat before{};
  const bool exists = ::lstat(file.c_str(), &before) == 0;
  if (exists && !S_ISREG(before.st_mode)) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'" + name_of(file) +
                          "' is not a regular file and is left as it is: guard "
                          "and write the file that a link leads to");
  }
  if (::unlink(scratch.c_str()) != 0 && errno != ENOENT) {
    return std::unexpected(failure("remove", scratch, errno));
  }
  int error = write_new(scratch, bytes, exists ? &before : nullptr);
  if (error == 0 && ::rename(scratch.c_str(), file.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlink(scratch.c_str());
    return std::unexpected(failure("write", file, error));
  }
  if (const int unsynced = sync_folder_of(file); unsynced != 0) {
    base::Error unknown = failure("sync the folder of", file, unsynced);
    unknown.code = base::ErrorCode::unknown_outcome;
    return std::unexpected(std::move(unknown));
  }
  return {};
}

}  // namespace holdfast::fence::internal
