#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <utility>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>

namespace holdfast::fence::internal {

// The file beside a guarded one: it keeps the newest token, and its lock (flock) is that of all who
// write. It is never replaced or removed.
//
// Two lines of the same form, each a token twice in 20 digits; the greater one counts. A new token
// goes to the line of the smaller one, so that a crash in the middle of it leaves the other: a line
// whose two numbers differ does not count. A file with lines of which none counts is corrupt. One
// with no more than the beginning of a line is as good as empty: its first token was not written to
// the end, and so nobody was let in with it.
//
// Holds the lock from lock() to the end of the object, in the process that called lock(): one that
// was forked meanwhile neither keeps the lock nor gives it up. Move-only, not thread-safe.
class FenceFile {
 public:
  // Makes the file if it is not there; waits for its lock until the deadline, of
  // base::steady_clock(). Errors: timed_out, unavailable.
  [[nodiscard]] static base::Result<FenceFile> lock(const std::filesystem::path& file,
                                                    base::Deadline deadline);

  // Without the lock, nothing if there is no file or no token in it. Errors: corrupt, unavailable.
  [[nodiscard]] static base::Result<std::optional<base::FencingToken>> peek(
      const std::filesystem::path& file);

  FenceFile(FenceFile&& other) noexcept;
  FenceFile& operator=(FenceFile&&) = delete;
  ~FenceFile();

  // Refuses the token (lost) if a newer one was seen; else returns when it is on the disk.
  [[nodiscard]] base::Result<void> admit(base::FencingToken token);

  // From now on the lock also holds in programs that this process becomes or starts, until all of
  // them have ended.
  [[nodiscard]] base::Result<void> hand_down();

 private:
  FenceFile(std::filesystem::path file, int descriptor) noexcept
      : file_(std::move(file)), descriptor_(descriptor) {}

  [[nodiscard]] base::Result<void> wait_for_lock(base::Deadline deadline);
  // False if somebody else has it.
  [[nodiscard]] base::Result<bool> try_lock();
  [[nodiscard]] bool is_still_there() const;

  std::filesystem::path file_;
  int descriptor_;
  pid_t unlocks_ = 0;  // the process that gives the lock up, if any
};

}  // namespace holdfast::fence::internal
