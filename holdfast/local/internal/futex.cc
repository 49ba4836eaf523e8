#include <holdfast/local/internal/futex.h>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <thread>

namespace holdfast::local::internal {

bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                const WaitDeadline& until) noexcept {
  timespec at{};
  if (until) {
    // std::chrono::steady_clock is CLOCK_MONOTONIC, the futex's default clock for absolute waits.
    const auto since_epoch = until->time_since_epoch();
    if (since_epoch.count() < 0) {
      return false;  // before the machine started, which the kernel rejects
    }
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch);
    at.tv_sec = static_cast<std::time_t>(seconds.count());
    at.tv_nsec = static_cast<long>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch - seconds).count());
  }
  const long rc = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected,
                          until ? &at : nullptr, nullptr, FUTEX_BITSET_MATCH_ANY);
  return !(rc == -1 && errno == ETIMEDOUT);
}

void futex_wake_one(const std::atomic<std::uint32_t>* word) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

bool spinning_helps() noexcept {
  static const bool kSeveralCores = std::thread::hardware_concurrency() > 1;
  return kSeveralCores;
}

}  // namespace holdfast::local::internal
