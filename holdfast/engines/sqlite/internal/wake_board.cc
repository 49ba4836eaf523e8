#include <holdfast/engines/sqlite/internal/wake_board.h>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <string>
#include <system_error>
#include <utility>

#include <holdfast/base/printable.h>

namespace holdfast::engines::sqlite::internal {

namespace {

using base::ErrorCode;
using base::Result;

constexpr std::size_t kPageSize = 4096;

struct SharedSlot {
  std::int64_t awaited_until;  // nanoseconds of the boot clock
  std::uint32_t hints;
  std::uint32_t unused;
};

constexpr std::size_t kSlots = kPageSize / sizeof(SharedSlot) - 1;

class File {
 public:
  explicit File(int fd) noexcept : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  const int fd_;
};

// Gives a new file its size. Its blocks are allocated, for a full disk would otherwise end a
// process that writes to the page.
int make_room(int fd, const struct stat& database) {
  struct stat status{};
  if (fstat(fd, &status) != 0) {
    return errno;
  }
  if (!S_ISREG(status.st_mode)) {
    return EINVAL;
  }
  if (std::cmp_greater_equal(status.st_size, kPageSize)) {
    return 0;
  }
  // As SQLite does for its own files. Not for others' files: then this fails, and does no harm.
  (void)!fchmod(fd, database.st_mode & 0777U);
  (void)!fchown(fd, database.st_uid, database.st_gid);
  return posix_fallocate(fd, 0, kPageSize);
}

std::int64_t now() { return base::boot_clock().now().time_since_epoch().count(); }

base::Error failure(const std::string& file, int reason) {
  return {ErrorCode::unavailable, "the file " + base::printable(file) + " cannot be used: " +
                                      std::generic_category().message(reason)};
}

}  // namespace

// Plain numbers, used through std::atomic_ref: the memory is the kernel's, nobody constructs it.
struct WakeBoard::Page {
  std::uint32_t hints;
  std::array<std::uint32_t, 3> unused;
  std::array<SharedSlot, kSlots> slots;
};

Result<std::unique_ptr<WakeBoard>> WakeBoard::open(const std::filesystem::path& database) {
  static_assert(sizeof(Page) == kPageSize);
  const std::string name = database.string() + "-wake";
  struct stat status{};
  if (stat(database.c_str(), &status) != 0) {
    return std::unexpected(failure(database.string(), errno));
  }
  const File file(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                         status.st_mode & 0777U));
  if (file.fd() < 0) {
    return std::unexpected(failure(name, errno));
  }
  if (const int reason = make_room(file.fd(), status); reason != 0) {
    return std::unexpected(failure(name, reason));
  }
  void* const memory = mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
  if (memory == MAP_FAILED) {
    return std::unexpected(failure(name, errno));
  }
  return std::unique_ptr<WakeBoard>(new WakeBoard(static_cast<Page*>(memory)));
}

WakeBoard::~WakeBoard() { munmap(page_, kPageSize); }

WakeBoard::Slot WakeBoard::slot_of(std::string_view name) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash % kSlots;
}

void WakeBoard::await(Slot slot) noexcept {
  std::atomic_ref(page_->slots[slot].awaited_until).store(now() + kAwaitedFor.count());
}

bool WakeBoard::is_awaited(Slot slot) const noexcept {
  const std::int64_t until = std::atomic_ref(page_->slots[slot].awaited_until).load();
  return until != 0 && until > now();
}

std::uint32_t WakeBoard::hints(Slot slot) const noexcept {
  return std::atomic_ref(page_->slots[slot].hints).load();
}

std::uint32_t WakeBoard::add_hint(Slot slot) noexcept {
  return std::atomic_ref(page_->slots[slot].hints).fetch_add(1);
}

std::uint32_t WakeBoard::all_hints() const noexcept { return std::atomic_ref(page_->hints).load(); }

void WakeBoard::wake_all() noexcept {
  std::atomic_ref(page_->hints).fetch_add(1);
  syscall(SYS_futex, &page_->hints, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void WakeBoard::sleep(std::uint32_t seen, base::Duration at_most) const noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at_most);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = (at_most - seconds).count()};
  syscall(SYS_futex, &page_->hints, FUTEX_WAIT, seen, &time, nullptr, 0);
}

}  // namespace holdfast::engines::sqlite::internal
