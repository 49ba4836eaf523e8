// Preloaded into a server of a test, in whose folder HOLDFAST_ALTERED files say what is wrong with
// its machine: with `full` the disk has no room for tables that grow, and `clock` has the
// microseconds by which the clock differs.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

namespace {

using Path = char[512];

bool path_of(const char* file, Path& path) {
  const char* const folder = std::getenv("HOLDFAST_ALTERED");
  return folder != nullptr &&
         std::snprintf(path, sizeof path, "%s/%s", folder, file) < static_cast<int>(sizeof path);
}

bool is_full() {
  Path path;
  return path_of("full", path) && ::access(path, F_OK) == 0;
}

long long clock_difference() {
  Path path;
  if (!path_of("clock", path)) return 0;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[32] = {};
  const ssize_t size = ::read(file, text, sizeof text - 1);
  ::close(file);
  return size > 0 ? std::atoll(text) : 0;
}

// The log of transactions has room: what has no room is a table.
bool grows_a_table(int descriptor, size_t size, off_t offset) {
  struct stat file = {};
  if (::fstat(descriptor, &file) != 0 || offset + static_cast<off_t>(size) <= file.st_size) {
    return false;
  }
  char link[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  Path path = {};
  return ::readlink(link, path, sizeof path - 1) > 0 && std::strstr(path, "/base/") != nullptr;
}

template <class Function>
Function original(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

ssize_t write_unless_full(const char* name, int descriptor, const void* data, size_t size,
                          off_t offset) {
  if (is_full() && grows_a_table(descriptor, size, offset)) {
    errno = ENOSPC;
    return -1;
  }
  return original<ssize_t (*)(int, const void*, size_t, off_t)>(name)(descriptor, data, size,
                                                                      offset);
}

}  // namespace

extern "C" {

ssize_t pwrite(int descriptor, const void* data, size_t size, off_t offset) {
  return write_unless_full("pwrite", descriptor, data, size, offset);
}

ssize_t pwrite64(int descriptor, const void* data, size_t size, off64_t offset) {
  return write_unless_full("pwrite64", descriptor, data, size, offset);
}

int gettimeofday(timeval* time, void* zone) noexcept {
  const int result = original<int (*)(timeval*, void*)>("gettimeofday")(time, zone);
  constexpr long long kSecond = 1'000'000;
  const long long now = time->tv_sec * kSecond + time->tv_usec + clock_difference();
  time->tv_sec = now / kSecond;
  time->tv_usec = now % kSecond;
  return result;
}

}  // extern "C"
