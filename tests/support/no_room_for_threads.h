#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace holdfast::tests {

// While it lives no thread can be started in this process: there is no room for its stack, unless
// one of a thread that has ended is still there.
class NoRoomForThreads {
 public:
  // Not with the sanitizers, which need the address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr bool kWorks = false;
#else
  static constexpr bool kWorks = true;
#endif

  NoRoomForThreads() {
    ::getrlimit(RLIMIT_AS, &before_);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit small = before_;
    small.rlim_cur = pages * static_cast<std::size_t>(::getpagesize()) + kSlack;
    ::setrlimit(RLIMIT_AS, &small);
  }
  ~NoRoomForThreads() { ::setrlimit(RLIMIT_AS, &before_); }
  NoRoomForThreads(const NoRoomForThreads&) = delete;
  NoRoomForThreads& operator=(const NoRoomForThreads&) = delete;

 private:
  static constexpr std::size_t kSlack = std::size_t{128} * 1024;  // for what is allocated meanwhile

  rlimit before_{};
};

}  // namespace holdfast::tests
