#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>

#include <holdfast/base/clock.h>

namespace holdfast::cli::torture {

// A forked process, which is killed with this object or with the process that made it.
class Fork {
 public:
  // Calls `work` in a new process, which ends with the status that it returns. Of the descriptors
  // it has the standard streams and `kept`. Call it where this process has one thread.
  Fork(const std::function<int()>& work, int kept);
  ~Fork();
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;

  void signal(int number) const;
  [[nodiscard]] pid_t id() const noexcept { return process_; }
  // Returns whether status() has seen its end.
  [[nodiscard]] bool has_ended() const noexcept { return status_.has_value(); }
  // Returns how it has ended, as waitpid says; nullopt while it runs.
  [[nodiscard]] std::optional<int> status();
  // Waits so long for the end, or until `gives_up` says so; then kills it. Returns the same,
  // nullopt if it was killed.
  [[nodiscard]] std::optional<int> wait(base::Duration at_most,
                                        const std::function<bool()>& gives_up);
  // Kills it, and returns when it has ended.
  void kill();

 private:
  pid_t process_ = -1;
  std::optional<int> status_;
};

}  // namespace holdfast::cli::torture
