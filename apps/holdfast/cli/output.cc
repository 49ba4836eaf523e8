#include <cerrno>
#include <cstdio>
#include <system_error>

#include "apps/holdfast/cli/output.h"

namespace holdfast::cli {

namespace {

// The first failure, an errno. Of one thread, as the output is.
int failure = 0;
bool closed = false;

void remember(bool worked) {
  if (!worked && failure == 0) {
    failure = errno != 0 ? errno : EIO;
  }
}

base::Result<void> outcome() {
  if (failure == 0) {
    return {};
  }
  return base::fail(base::ErrorCode::failed,
                    "cannot write to standard output: " + std::generic_category().message(failure));
}

}  // namespace

void write_output(std::string_view text) noexcept {
  errno = 0;
  remember(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

base::Result<void> flush_output() {
  errno = 0;
  remember(std::fflush(stdout) == 0 && std::ferror(stdout) == 0);
  return outcome();
}

base::Result<void> close_output() {
  if (!closed) {
    static_cast<void>(flush_output());
    closed = true;
    errno = 0;
    remember(std::fclose(stdout) == 0);
  }
  return outcome();
}

}  // namespace holdfast::cli
