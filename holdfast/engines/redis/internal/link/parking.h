#pragma once

#include <atomic>
#include <cstdint>

#include <holdfast/base/deadline.h>

namespace holdfast::engines::redis::internal {

// Where one thread sleeps until another tells it something, once.
//
// The one who tells may do so while the sleeper is about to go away: tell() is the last thing that
// touches this object, and wake() needs nothing but its address.
class Parking {
 public:
  enum class Word : std::uint32_t {
    none,    // nothing was told
    asleep,  // nothing was told, and the owner sleeps
    lead,    // lead the others
    done,    // the reply, or the error, is there
  };

  // The owner: what was told, or none if the deadline came first.
  [[nodiscard]] Word wait(base::Deadline deadline) noexcept;

  // Whether the owner sleeps and wake() must be called. What was written before is seen by the
  // owner.
  [[nodiscard]] bool tell(Word word) noexcept {
    return word_.exchange(word, std::memory_order_acq_rel) == Word::asleep;
  }
  static void wake(const Parking* parking) noexcept;

 private:
  std::atomic<Word> word_ = Word::none;
};

}  // namespace holdfast::engines::redis::internal
