#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "apps/holdfast/cli/streams.h"

namespace holdfast::cli {

void open_missing_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1) {
      // The least that is free: this one. Where there is no /dev/null, it stays closed.
      static_cast<void>(::open("/dev/null", O_RDWR));
    }
  }
}

void write_error(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace holdfast::cli
