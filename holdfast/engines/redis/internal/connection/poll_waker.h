#pragma once

#include <holdfast/base/deadline.h>
#include <holdfast/engines/redis/internal/connection/wire.h>

namespace holdfast::engines::redis::internal {

// Wakes a thread from poll(). Thread-safe. Throws std::system_error if there is no descriptor left.
class PollWaker {
 public:
  PollWaker();
  ~PollWaker();
  PollWaker(const PollWaker&) = delete;
  PollWaker& operator=(const PollWaker&) = delete;

  // Ends the sleep of a thread, or its next one.
  void wake() const noexcept;
  // Sleeps until there is something to read (or for `also`, events of poll()), until woken, or
  // until the deadline. Without a wire, until the latter two.
  void sleep(const Wire* wire, short also, base::Deadline deadline) const noexcept;

 private:
  const int descriptor_;
};

}  // namespace holdfast::engines::redis::internal
