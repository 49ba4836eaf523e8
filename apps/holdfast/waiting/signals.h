#pragma once

#include <csignal>
#include <cstdint>
#include <optional>

#include "apps/holdfast/waiting/descriptor.h"

namespace holdfast::cli {

// The signals that are passed on to a command, as a file descriptor instead of handlers.
//
// While it lives they are blocked in this thread and in those that it starts, so make it before any
// other thread. One at a time; one thread. Signals that were ignored from the start stay so.
// Throws std::system_error where there are no more descriptors.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Readable when there is one.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  // The next one that came: one that is forwarded, or SIGCHLD. Does not block.
  [[nodiscard]] std::optional<int> next() const;

  // Returns whether this signal asks this process to end. One that was ignored from the start, as
  // nohup does with SIGHUP, does not.
  [[nodiscard]] bool asks_to_end(int signal) const noexcept;

  // The state that a command has to start with.
  [[nodiscard]] const sigset_t& original_mask() const noexcept { return original_; }

 private:
  sigset_t original_{};
  sigset_t ignored_{};  // from the start
  Descriptor descriptor_;
};

// Whom a stop is for.
enum class Stop : std::uint8_t { this_process, whole_job };

// Stops as if SIGTSTP had not been blocked, and returns when continued. Does nothing where nobody
// could continue us: in an orphaned process group the kernel sees to that.
void suspend(Stop whom);

}  // namespace holdfast::cli
