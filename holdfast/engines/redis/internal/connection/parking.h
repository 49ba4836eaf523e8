#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <holdfast/base/deadline.h>

namespace holdfast::engines::redis::internal {

// The place for the one word that a sleeper gets.
class Parking {
 public:
  enum class Word : std::uint32_t {
    none,    // nobody was notified
    asleep,  // nobody was notified, and the owner sleeps
    lead,    // lead the others
    done,    // the reply, or the error, is there
  };

 private:
  friend class ParkingLot;

  std::atomic<Word> word_ = Word::none;
  std::uint32_t row_ = 0;
  std::uint32_t bay_ = 1;  // one bit
};

// The place where the callers of a connection sleep until a word comes for them. Few system
// calls wake many: callers that come one after the other sleep on the same futex, in bays
// that it can tell apart. All sleepers in a bay wake together; those without a word sleep
// again.
//
// The connection's mutex protects enter(), tell() and the list of sleepers to wake; wait() and
// wake() need no mutex. It outlives every parking; a parking may end once it has its word.
class ParkingLot {
  static constexpr std::size_t kRows = 8;
  static constexpr std::size_t kBays = 32;
  static constexpr std::size_t kPerBay = 2;

 public:
  // Before the first wait.
  void enter(Parking& parking) noexcept;

  // For the owner: returns its word, or none if the deadline came first.
  [[nodiscard]] Parking::Word wait(Parking& parking, base::Deadline deadline) noexcept;

  // The sleepers that have a word: to be woken when the mutex is free.
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
