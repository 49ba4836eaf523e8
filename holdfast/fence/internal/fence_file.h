#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <utility>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>

namespace holdfast::fence::internal {

// The file next to a guarded one: it keeps the newest token, and all writers hold its lock (flock)
// while they write. It is never replaced or removed.
//
// It has two lines of the same form, each a token twice in 20 digits; the greater one counts. A new
// token replaces the line of the smaller one, so that a crash in the middle leaves the other line
// intact: a line whose two numbers differ does not count. A file with lines of which none counts is
// corrupt. One with no more than the beginning of a line counts as empty: its first token was not
// written completely, and so was never accepted.
//
// Holds the lock from lock() to the end of the object, in the process that called lock(): a child
// that is forked meanwhile neither holds nor releases it. Move-only, not thread-safe.
class FenceFile {
 public:
  // Creates the file if it does not exist; waits for its lock until the deadline, of
  // base::steady_clock(). Errors: timed_out, unavailable.
  [[nodiscard]] static base::Result<FenceFile> lock(const std::filesystem::path& file,
                                                    base::Deadline deadline);

  // Reads without the lock; nullopt if there is no file or no token in it. Errors: corrupt,
  // unavailable.
  [[nodiscard]] static base::Result<std::optional<base::FencingToken>> peek(
      const std::filesystem::path& file);

  FenceFile(FenceFile&& other) noexcept;
  FenceFile& operator=(FenceFile&&) = delete;
  ~FenceFile();

  // Rejects the token (lost) if a newer one was seen; otherwise returns when it is on the disk.
  [[nodiscard]] base::Result<void> admit(base::FencingToken token);

  // Lets programs that this process becomes or starts share the lock: it is held until all of them
  // have ended.
  [[nodiscard]] base::Result<void> hand_down();

 private:
  FenceFile(std::filesystem::path file, int descriptor) noexcept
      : file_(std::move(file)), descriptor_(descriptor) {}

  [[nodiscard]] base::Result<void> wait_for_lock(base::Deadline deadline);
  // Returns false if the lock is held elsewhere.
  [[nodiscard]] base::Result<bool> try_lock();
  [[nodiscard]] bool is_still_there() const;

  std::filesystem::path file_;
  int descriptor_;
  pid_t unlocks_ = 0;  // the process that releases the lock, if any
};

}  // namespace holdfast::fence::internal
