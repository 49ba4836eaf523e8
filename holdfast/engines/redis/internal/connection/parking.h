#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <holdfast/base/deadline.h>

namespace holdfast::engines::redis::internal {

// What one sleeper is told, once.
class Parking {
 public:
  enum class Word : std::uint32_t {
    none,    // nothing was told
    asleep,  // nothing was told, and the owner sleeps
    lead,    // lead the others
    done,    // the reply, or the error, is there
  };

 private:
  friend class ParkingLot;

  std::atomic<Word> word_ = Word::none;
  std::uint32_t row_ = 0;
  std::uint32_t bay_ = 1;  // one bit
};

// Where the callers of a connection sleep until they are told something. However many are told, few
// system calls wake them all: those who come one after the other sleep on the same futex, in bays
// that it can tell apart. All sleepers in a bay wake together; those who were told nothing go back
// to sleep.
//
// enter(), tell() and what is to be woken are protected by the connection's mutex; wait() and
// wake() need none. It outlives every parking; a parking may be gone once it was told.
class ParkingLot {
  static constexpr std::size_t kRows = 8;
  static constexpr std::size_t kBays = 32;
  static constexpr std::size_t kPerBay = 2;

 public:
  // Before the first wait.
  void enter(Parking& parking) noexcept;

  // The owner: what was told, or none if the deadline came first.
  [[nodiscard]] Parking::Word wait(Parking& parking, base::Deadline deadline) noexcept;

  // Who was told, and sleeps: to be woken when the mutex is free.
  class Sleepers {
   public:
    [[nodiscard]] bool empty() const noexcept {
      return bays_ == std::array<std::uint32_t, kRows>{};
    }

   private:
    friend class ParkingLot;
    std::array<std::uint32_t, kRows> bays_{};
  };
  // The last to touch the parking. What was written before is seen by the owner.
  static void tell(Parking& parking, Parking::Word word, Sleepers& sleepers) noexcept;
  void wake(const Sleepers& sleepers) noexcept;

 private:
  struct alignas(64) Row {
    std::atomic<std::uint32_t> turn = 0;  // changes before anybody is woken
  };

  std::array<Row, kRows> rows_;
  std::uint64_t entered_ = 0;
};

}  // namespace holdfast::engines::redis::internal
