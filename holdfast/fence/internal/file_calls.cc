#include <holdfast/fence/internal/file_calls.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <holdfast/base/printable.h>

namespace holdfast::fence::internal {

std::expected<std::size_t, int> read_at_start(int descriptor, std::span<char> buffer) noexcept {
  std::size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t count =
        ::pread(descriptor, buffer.data() + size, buffer.size() - size, static_cast<off_t>(size));
    if (count == 0) {
      break;
    }
    if (count < 0 && errno != EINTR) {
      return std::unexpected(errno);
    }
    size += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  return size;
}

int write_all_at(int descriptor, std::string_view bytes, off_t offset) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor, bytes.data(), bytes.size(), offset);
    if (count < 0 && errno != EINTR) {
      return errno;
    }
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
      offset += count;
    }
  }
  return 0;
}

int sync_folder_of(const std::filesystem::path& file) {
  const int folder = ::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    return errno;
  }
  const int error = ::fsync(folder) == 0 ? 0 : errno;
  ::close(folder);
  return error;
}

std::string name_of(const std::filesystem::path& file) { return base::printable(file.native()); }

base::Error failure(std::string_view what, const std::filesystem::path& file, int error) {
  return {base::ErrorCode::unavailable, "cannot " + std::string(what) + " the file " +
                                            name_of(file) + ": " +
                                            std::generic_category().message(error)};
}

}  // namespace holdfast::fence::internal
