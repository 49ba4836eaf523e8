#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include <holdfast/locks/lock.h>

#include "apps/holdfast/waiting/descriptor.h"
#include "apps/holdfast/waiting/signals.h"

// The background process of `hold`, which renews a lease for a shell.
namespace holdfast::cli {

// A process that a keeper looks at, without the danger that its id becomes another's.
class ProcessHandle {
 public:
  // Returns the errno if there is no such process.
  [[nodiscard]] static std::expected<ProcessHandle, int> open(pid_t id);

  // Readable when the process has ended.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  void signal(int number) const noexcept;
  // Blocks until it has ended, or for so many milliseconds; returns whether it has.
  [[nodiscard]] bool wait_for_end(int milliseconds) const noexcept;

 private:
  explicit ProcessHandle(Descriptor descriptor) noexcept : descriptor_(std::move(descriptor)) {}

  Descriptor descriptor_;
};

// The reason why a keeper stopped.
enum class KeeperEnd : std::uint8_t { shell_ended, asked_to_end, lost };

// Blocks until the shell ends, a signal asks this process to end, or the lock is lost.
[[nodiscard]] KeeperEnd keep(const locks::Lock& lock, const ProcessHandle& shell,
                             const Signals& signals);

// Leaves the session of the shell, and its input and output, so that neither Ctrl-C nor a reader of
// the output waits for this process.
void go_to_background();

// Ends the keeper with this id and waits until it has released its lease. Does nothing if that
// process is not a `holdfast`. Returns whether there is no such keeper any more.
[[nodiscard]] bool end_keeper(pid_t id);

}  // namespace holdfast::cli
