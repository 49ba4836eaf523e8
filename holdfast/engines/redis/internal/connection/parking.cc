#include <holdfast/engines/redis/internal/connection/parking.h>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

namespace holdfast::engines::redis::internal {

namespace {

// base::steady_clock() is CLOCK_MONOTONIC, the futex's default clock for absolute waits.
timespec to_timespec(base::TimePoint time) noexcept {
  const auto since_epoch = time.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch);
  timespec result{};
  result.tv_sec = static_cast<std::time_t>(seconds.count());
  result.tv_nsec = static_cast<long>((since_epoch - seconds).count());
  return result;
}

}  // namespace

void ParkingLot::enter(Parking& parking) noexcept {
  const std::uint64_t place = entered_++ / kPerBay;
  parking.bay_ = std::uint32_t{1} << (place % kBays);
  parking.row_ = static_cast<std::uint32_t>(place / kBays % kRows);
}

Parking::Word ParkingLot::wait(Parking& parking, base::Deadline deadline) noexcept {
  using Word = Parking::Word;
  Word seen = Word::none;
  if (!parking.word_.compare_exchange_strong(seen, Word::asleep, std::memory_order_acq_rel)) {
    return seen;
  }
  const timespec until = to_timespec(deadline.when());
  std::atomic<std::uint32_t>& turn = rows_[parking.row_].turn;
  for (;;) {
    // The turn changes first: a sleeper that gets its word later finds that, and does not sleep.
    const std::uint32_t now = turn.load(std::memory_order_acquire);
    seen = parking.word_.load(std::memory_order_acquire);
    if (seen != Word::asleep) {
      return seen;
    }
    const long failed = ::syscall(SYS_futex, &turn, FUTEX_WAIT_BITSET_PRIVATE, now,
                                  deadline.is_never() ? nullptr : &until, nullptr, parking.bay_);
    if (failed == -1 && errno == ETIMEDOUT) {
      return Word::none;
    }
  }
}

void ParkingLot::tell(Parking& parking, Parking::Word word, Sleepers& sleepers) noexcept {
  const std::uint32_t row = parking.row_;
  const std::uint32_t bay = parking.bay_;
  if (parking.word_.exchange(word, std::memory_order_acq_rel) == Parking::Word::asleep) {
    sleepers.bays_[row] |= bay;
  }
}

void ParkingLot::wake(const Sleepers& sleepers) noexcept {
  for (std::size_t row = 0; row < kRows; ++row) {
    if (const std::uint32_t bays = sleepers.bays_[row]; bays != 0) {
      std::atomic<std::uint32_t>& turn = rows_[row].turn;
      turn.fetch_add(1, std::memory_order_release);
      ::syscall(SYS_futex, &turn, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, nullptr, nullptr, bays);
    }
  }
}

}  // namespace holdfast::engines::redis::internal
