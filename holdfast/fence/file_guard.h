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
  // How long to wait for others who are writing, at most.
  base::Duration wait = std::chrono::seconds(10);
};

// The right to change a guarded file until the end of the scope: all others wait. Move-only. Of the
// process that got it: one that is forked meanwhile has no part in it.
class [[nodiscard]] FilePass {
 public:
  FilePass(FilePass&& other) noexcept;
  FilePass& operator=(FilePass&&) = delete;
  ~FilePass();

  // Replaces the contents in one step, for readers and across a crash. invalid_argument for what is
  // there and no file, such as a link: it is left alone.
  [[nodiscard]] base::Result<void> write(std::string_view bytes);

  // The lock then also holds in programs that this process becomes or starts, until all of them
  // have ended.
  [[nodiscard]] base::Result<void> hand_down();

 private:
  friend class FileGuard;
  FilePass(std::filesystem::path file, std::unique_ptr<internal::FenceFile> fence) noexcept;

  std::filesystem::path file_;
  std::unique_ptr<internal::FenceFile> fence_;  // locked
};

// A file that is only written with a token that is no older than any before, by the processes of
// one machine. Readers just read it.
//
// The newest token is in a file beside it, `<file>.fence`, whose lock all writers take; it stays
// for ever. It belongs to the name: whoever writes the same file by another name passes another
// fence. Without `write`, the name may stand for anything, a link or a folder too.
//
// Thread-safe. A call waits for others who write until FileGuardOptions::wait is over: a writer
// that was stopped in the middle of a write keeps the rest out, rather than being overtaken.
//
// Guaranteed, also across a crash or a loss of power: a token that was accepted is remembered
// before anything is written; a smaller one is refused from then on, an equal one accepted. The
// file has the old contents or the new, whole. Not guaranteed: anything on network file systems, or
// against those who write past the guard.
//
// Errors: lost, where the token is refused; timed_out, where others did not end; unavailable, the
// files cannot be used, nothing was written; corrupt, `<file>.fence` is not a fence;
// unknown_outcome, written, but perhaps not for good.
//
//   auto guard = FileGuard::open("report.txt");
//   auto written = guard->write(lock.token(), report);
//   if (!written && written.error().code == ErrorCode::lost) return overtaken();
class FileGuard {
 public:
  // The folder has to be there, the file need not. invalid_argument for a path that does not end in
  // a name.
  [[nodiscard]] static base::Result<FileGuard> open(const std::filesystem::path& file,
                                                    FileGuardOptions options = {});

  // Remembers the token, and replaces the contents of the file in one step.
  [[nodiscard]] base::Result<void> write(base::FencingToken token, std::string_view bytes) const;
  // Remembers the token, and lets the caller do what it wants while nobody else can.
  [[nodiscard]] base::Result<FilePass> enter(base::FencingToken token) const;
  // Remembers the token. What the caller does next is not guarded: somebody newer may come first.
  [[nodiscard]] base::Result<void> check(base::FencingToken token) const;

  // Nothing if none was seen.
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
