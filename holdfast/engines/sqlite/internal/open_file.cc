#include <holdfast/engines/sqlite/internal/open_file.h>

#include <unistd.h>

#include <atomic>
#include <utility>

#include <holdfast/base/printable.h>

namespace holdfast::engines::sqlite::internal {

namespace {

constexpr pid_t kFree = 0;
constexpr pid_t kBeingMade = -1;

}  // namespace

// Entries are used again, and never freed.
struct OpenFile::Entry {
  std::atomic<pid_t> owner{kBeingMade};
  std::string file;  // changes only between kBeingMade and the owner's pid
  Entry* next = nullptr;

  static inline std::atomic<Entry*> first{nullptr};

  static Entry* make() {
    for (Entry* entry = first.load(); entry != nullptr; entry = entry->next) {
      pid_t free = kFree;
      if (entry->owner.compare_exchange_strong(free, kBeingMade)) {
        return entry;
      }
    }
    auto* const entry = new Entry;
    entry->next = first.load();
    while (!first.compare_exchange_weak(entry->next, entry)) {
    }
    return entry;
  }
};

base::Result<OpenFile> OpenFile::enter(const std::string& resolved) {
  const pid_t self = getpid();
  for (const Entry* entry = Entry::first.load(); entry != nullptr; entry = entry->next) {
    // Another process's entry cannot change any more in this one.
    if (const pid_t owner = entry->owner.load();
        owner > kFree && owner != self && entry->file == resolved) {
      return base::fail(base::ErrorCode::unsupported,
                        "the file " + base::printable(resolved) +
                            " was open when this process was forked, and SQLite cannot open it "
                            "again here: fork first and open then, or start the child with exec");
    }
  }
  Entry* const entry = Entry::make();
  entry->file = resolved;
  entry->owner.store(self);
  return OpenFile(entry);
}

OpenFile::OpenFile(OpenFile&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}

OpenFile::~OpenFile() {
  if (entry_ != nullptr && is_ours()) {
    entry_->owner.store(kFree);
  }
}

bool OpenFile::is_ours() const noexcept { return entry_->owner.load() == getpid(); }

}  // namespace holdfast::engines::sqlite::internal
