#include <holdfast/engines/redis/internal/link/parking.h>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace holdfast::engines::redis::internal {

Parking::Word Parking::wait(base::Deadline deadline) noexcept {
  Word seen = Word::none;
  if (!word_.compare_exchange_strong(seen, Word::asleep, std::memory_order_acq_rel)) {
    return seen;
  }
  // base::steady_clock() is CLOCK_MONOTONIC, the futex's default clock for absolute waits.
  const auto since_epoch = deadline.when().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch);
  timespec until{};
  until.tv_sec = static_cast<std::time_t>(seconds.count());
  until.tv_nsec = static_cast<long>((since_epoch - seconds).count());
  while ((seen = word_.load(std::memory_order_acquire)) == Word::asleep) {
    const long failed =
        ::syscall(SYS_futex, &word_, FUTEX_WAIT_BITSET_PRIVATE, Word::asleep,
                  deadline.is_never() ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
    if (failed == -1 && errno == ETIMEDOUT) {
      return Word::none;
    }
  }
  return seen;
}

void Parking::wake(const Parking* parking) noexcept {
  ::syscall(SYS_futex, parking, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace holdfast::engines::redis::internal
