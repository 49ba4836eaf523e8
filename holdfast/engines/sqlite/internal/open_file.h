#pragma once

#include <sys/types.h>

#include <string>

#include <holdfast/base/error.h>

namespace holdfast::engines::sqlite::internal {

// The files that this process has open, and those that were open when it was forked.
//
// A child must not open a file that its parent had open: SQLite keeps one account of the locks of a
// process per file, the child inherits a copy of it, and so believes that it holds locks which it
// does not. (Seen with SQLite 3.40: the child writes to a log that the parent has just removed, and
// what it wrote is gone.) Neither may it close what it inherited. There is no way out but exec.
//
// Thread-safe; an entry is made before the file is opened, and removed after it is closed. Takes no
// lock, so it cannot be found locked in a child.
class OpenFile {
 public:
  // ErrorCode::unsupported if the file was inherited.
  [[nodiscard]] static base::Result<OpenFile> enter(const std::string& resolved);
  OpenFile(OpenFile&& other) noexcept;
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  OpenFile& operator=(OpenFile&&) = delete;

  // Returns whether this is the process that opened it.
  [[nodiscard]] bool is_ours() const noexcept;

 private:
  struct Entry;
  explicit OpenFile(Entry* entry) noexcept : entry_(entry) {}

  Entry* entry_;
};

}  // namespace holdfast::engines::sqlite::internal
