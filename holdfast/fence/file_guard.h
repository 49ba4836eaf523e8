#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>

namespace holdfast::fence {

namespace internal {
class FenceFile;
}

struct FileGuardOptions {
  // The longest wait for other writers.
  base::Duration wait = std::chrono::seconds(10);
};

// The right to change a guarded file until the end of the scope: all other writers wait. Move-only.
// It belongs to the process that got it: a child that is forked meanwhile neither holds nor
// releases it.
class [[nodiscard]] FilePass {
 public:
  FilePass(FilePass&& other) noexcept;
  FilePass& operator=(FilePass&&) = delete;
  ~FilePass();

  // Replaces the contents in one step, for readers and across a crash. invalid_argument if the path
  // is something other than a file, such as a link: that is left unchanged.
  [[nodiscard]] base::Result<void> write(std::string_view bytes);

  // Lets programs that this process becomes or starts share the lock: it is held until all of them
  // have ended.
  [[nodiscard]] base::Result<void> hand_down();

 private:
  friend class FileGuard;
  FilePass(std::filesystem::path file, std::unique_ptr<internal::FenceFile> fence) noexcept;

  std::filesystem::path file_;
  std::unique_ptr<internal::FenceFile> fence_;  // locked
};

// A file that is only written with a token at least as new as all before it, by the processes of
// one machine. Readers just read it.
//
// The newest token is in a file next to it, `<file>.fence`, which all writers lock and which stays
// for ever. It belongs to the file name: a writer that uses another name for the same file uses
// another fence. If `write` is not used, the name may be anything, a link or a folder too.
//
// Thread-safe. A call waits for other writers up to FileGuardOptions::wait: a writer that was
// stopped in the middle of a write blocks the others, so that they cannot write before it.
//
// Guaranteed, even across a crash or a power failure: an accepted token is remembered before
// anything is written; from then on a smaller one is rejected, an equal one accepted. The
// file has either the old contents or the new, complete. Not guaranteed: anything on network file
// systems, or against writers that bypass the guard.
//
// Errors: lost, the token is stale; timed_out, other writers did not finish; unavailable, the
// files cannot be used and nothing was written; corrupt, `<file>.fence` is not a fence;
// unknown_outcome, written, but it may not survive a power failure.
//
//   auto guard = FileGuard::open("report.txt");
//   auto written = guard->write(lock.token(), report);
//   if (!written && written.error().code == ErrorCode::lost) return reject();
class FileGuard {
 public:
  // The folder must exist, the file need not. invalid_argument for a path that does not end in a
  // name.
  [[nodiscard]] static base::Result<FileGuard> open(const std::filesystem::path& file,
                                                    FileGuardOptions options = {});

  // Remembers the token, and replaces the contents of the file in one step.
  [[nodiscard]] base::Result<void> write(base::FencingToken token, std::string_view bytes) const;
  // Remembers the token, and excludes other writers while the caller holds the pass.
  [[nodiscard]] base::Result<FilePass> enter(base::FencingToken token) const;
  // Remembers the token. What the caller does next is not guarded: a newer token may come first.
  [[nodiscard]] base::Result<void> check(base::FencingToken token) const;

  // Returns nullopt if no token was seen.
  [[nodiscard]] base::Result<std::optional<base::FencingToken>> newest() const;

  [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }
  [[nodiscard]] const std::filesystem::path& fence_file() const noexcept { return fence_file_; }

 private:
  FileGuard(std::filesystem::path file, FileGuardOptions options);

  std::filesystem::path file_;
  std::filesystem::path fence_file_;
  FileGuardOptions options_;
};

}  // namespace holdfast::fence
