#include <holdfast/engines/sqlite/internal/wake_board.h>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/random.h>
#include <holdfast/base/try.h>

namespace holdfast::engines::sqlite::internal {

namespace {

using base::ErrorCode;
using base::Result;

constexpr std::size_t kSize = 4096;
constexpr std::size_t kWords = 16;
constexpr std::size_t kBits = 32;
// An address is that of one board, and tells in its last digits where that board sleeps.
constexpr WakeBoard::Address kPlaces = kWords * kBits;

struct Word {
  std::uint32_t stamp = 0;
  std::uint32_t unused = 0;
  std::int64_t awaited_until = 0;  // nanoseconds of the boot clock
};

struct Granted {
  std::uint32_t stamp = 0;
  std::uint32_t to = 0;
  std::uint64_t id_high = 0;
  std::uint64_t id_low = 0;
};

struct SharedSlot {
  std::int64_t awaited_until = 0;  // nanoseconds of the boot clock
  std::uint32_t hints = 0;
  std::uint32_t unused = 0;
  Granted granted;
};

constexpr std::size_t kSlots = (kSize - kWords * sizeof(Word)) / sizeof(SharedSlot);
static_assert(kWords * sizeof(Word) + kSlots * sizeof(SharedSlot) == kSize);

constexpr std::size_t offset_of_word(std::size_t word) { return word * sizeof(Word); }
constexpr std::size_t word_of(WakeBoard::Address address) { return address % kPlaces / kBits; }
constexpr std::size_t offset_of(std::size_t slot) {
  return kWords * sizeof(Word) + slot * sizeof(SharedSlot);
}

// Zeros where the file has no bytes any more.
template <class Value>
Value read(int fd, std::size_t offset) noexcept {
  Value value{};
  if (pread(fd, &value, sizeof(value), static_cast<off_t>(offset)) !=
      static_cast<ssize_t>(sizeof(value))) {
    return {};
  }
  return value;
}

// A write that fails is a lost hint.
template <class Value>
void write(int fd, std::size_t offset, const Value& value) noexcept {
  (void)!pwrite(fd, &value, sizeof(value), static_cast<off_t>(offset));
}

// The bytes that an open board has locked, both beyond the end of the file.
constexpr off_t byte_of_place(WakeBoard::Address place) { return off_t{kSize} + place; }
constexpr off_t byte_of(WakeBoard::Address address) { return off_t{kSize} + kPlaces + address; }

struct flock lock_of(off_t byte, short type) noexcept {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

// Locks the byte until the board is closed, beside other boards. Returns whether it could.
bool lock(int fd, off_t byte) noexcept {
  struct flock lock = lock_of(byte, F_RDLCK);
  return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

// Says if another board has locked the byte.
enum class Taken : std::uint8_t { no, yes, unknown };
Taken is_taken(int fd, off_t byte) noexcept {
  struct flock lock = lock_of(byte, F_WRLCK);
  if (fcntl(fd, F_OFD_GETLK, &lock) != 0) {
    return Taken::unknown;
  }
  return lock.l_type == F_UNLCK ? Taken::no : Taken::yes;
}

// Differs from any that came before, as good as always, without a step that two processes could
// take at once.
std::uint32_t new_stamp() { return static_cast<std::uint32_t>(base::random_u64()); }

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
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

base::Error failure(const std::string& file, std::string_view reason) {
  return {ErrorCode::unavailable,
          "the file " + base::printable(file) + " cannot be used: " + std::string(reason)};
}
base::Error failure(const std::string& file, int reason) {
  return failure(file, std::generic_category().message(reason));
}

// Makes the file; -1 and EEXIST if there is one.
int make(const std::string& name, const struct stat& database) {
  const int fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                        database.st_mode & 0777U);
  if (fd >= 0) {
    // The same as SQLite does for its own files. Without the right to do so, this fails and does no
    // harm.
    (void)!fchmod(fd, database.st_mode & 0777U);
    (void)!fchown(fd, database.st_uid, database.st_gid);
  }
  return fd;
}

// Returns why the file is not ours to write to; empty if it is.
std::string_view objection_to(const struct stat& file, const struct stat& database) {
  if (!S_ISREG(file.st_mode)) {
    return "it is not a regular file";
  }
  if (file.st_nlink > 1) {
    return "it has a second name (a hard link)";
  }
  if (file.st_uid != geteuid() && file.st_uid != database.st_uid && file.st_uid != 0) {
    return "it belongs to another user than the database";
  }
  if (file.st_size != 0 && std::cmp_not_equal(file.st_size, kSize)) {
    return "it does not have the size that Holdfast gives it";
  }
  return {};
}

Result<int> open_file(const std::string& name, const struct stat& database) {
  File file(make(name, database));
  File existing(file.fd() < 0 && errno == EEXIST
                    ? ::open(name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                    : file.release());
  struct stat status{};
  if (existing.fd() < 0 || fstat(existing.fd(), &status) != 0) {
    return std::unexpected(failure(name, errno));
  }
  if (const auto objection = objection_to(status, database); !objection.empty()) {
    return std::unexpected(failure(name, objection));
  }
  if (status.st_size == 0 && ftruncate(existing.fd(), kSize) != 0) {
    return std::unexpected(failure(name, errno));
  }
  return existing.release();
}

}  // namespace

Result<std::unique_ptr<WakeBoard>> WakeBoard::open(const std::filesystem::path& database,
                                                   base::Duration clock_ahead) {
  const std::string name = database.string() + "-wake";
  struct stat status{};
  if (stat(database.c_str(), &status) != 0) {
    return std::unexpected(failure(database.string(), errno));
  }
  HOLDFAST_TRY_LET(const int fd, open_file(name, status));
  File file(fd);
  // Without its locks, others would take this board for one whose process has ended.
  const std::optional<Address> address = take_address(fd);
  if (!address) {
    return std::unexpected(failure(name, errno));
  }
  void* const mapping = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
  if (mapping == MAP_FAILED) {
    return std::unexpected(failure(name, errno));
  }
  return std::unique_ptr<WakeBoard>(new WakeBoard(file.release(), mapping, clock_ahead, *address));
}

WakeBoard::WakeBoard(int fd, void* mapping, base::Duration clock_ahead, Address address) noexcept
    : fd_(fd), mapping_(mapping), clock_ahead_(clock_ahead), address_(address) {}

std::optional<WakeBoard::Address> WakeBoard::take_address(int fd) noexcept {
  const auto first = static_cast<Address>(base::random_u64() % kPlaces);
  Address place = first;
  while (is_taken(fd, byte_of_place(place)) == Taken::yes) {
    place = (place + 1) % kPlaces;
    if (place == first) {
      break;
    }
  }
  // Not the last, which is no address.
  const auto others = static_cast<Address>(base::random_u64() % (kNoAddress / kPlaces));
  const Address address = others * kPlaces + place;
  const bool is_locked = lock(fd, byte_of_place(place)) && lock(fd, byte_of(address));
  return is_locked ? std::optional(address) : std::nullopt;
}

bool WakeBoard::is_alive(Address address) const noexcept {
  return address == address_ || is_taken(fd_, byte_of(address)) != Taken::no;
}

bool WakeBoard::is_whole() const noexcept {
  struct stat file{};
  return fstat(fd_, &file) == 0 && file.st_nlink > 0 && file.st_size >= off_t{kSize};
}

WakeBoard::~WakeBoard() {
  munmap(mapping_, kSize);
  close(fd_);
}

WakeBoard::Slot WakeBoard::slot_of(std::string_view name) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash % kSlots;
}

std::int64_t WakeBoard::now() const noexcept {
  return (base::boot_clock().now() - clock_ahead_).time_since_epoch().count();
}

void WakeBoard::await(Slot slot) const noexcept {
  const std::int64_t until = now() + kAwaitedFor.count();
  write(fd_, offset_of_word(word_of(address_)) + offsetof(Word, awaited_until), until);
  write(fd_, offset_of(slot) + offsetof(SharedSlot, awaited_until), until);
}

bool WakeBoard::is_awaited(Slot slot) const noexcept {
  const auto until = read<std::int64_t>(fd_, offset_of(slot) + offsetof(SharedSlot, awaited_until));
  return until != 0 && until > now();
}

WakeBoard::News WakeBoard::news(Slot slot) const noexcept {
  const auto shared = read<SharedSlot>(fd_, offset_of(slot));
  return {.hints = shared.hints,
          .grants = shared.granted.stamp,
          .granted_to = shared.granted.to,
          .granted = base::LeaseId(shared.granted.id_high, shared.granted.id_low)};
}

std::uint32_t WakeBoard::hint(Slot slot) const noexcept {
  const std::uint32_t hints = new_stamp();
  write(fd_, offset_of(slot) + offsetof(SharedSlot, hints), hints);
  const auto words = read<std::array<Word, kWords>>(fd_, 0);
  const std::int64_t time = now();
  for (std::size_t word = 0; word < kWords; ++word) {
    if (words[word].awaited_until > time) {
      write(fd_, offset_of_word(word) + offsetof(Word, stamp), new_stamp());
      syscall(SYS_futex, futex_of(static_cast<Address>(word * kBits)), FUTEX_WAKE, INT_MAX, nullptr,
              nullptr, 0);
    }
  }
  return hints;
}

void WakeBoard::grant(Slot slot, Address to, const base::LeaseId& id) const noexcept {
  write(fd_, offset_of(slot) + offsetof(SharedSlot, granted),
        Granted{.stamp = new_stamp(), .to = to, .id_high = id.high(), .id_low = id.low()});
  wake(to);
}

std::uint32_t WakeBoard::stamp() const noexcept {
  return read<std::uint32_t>(fd_, offset_of_word(word_of(address_)) + offsetof(Word, stamp));
}

void WakeBoard::wake(Address address) const noexcept {
  write(fd_, offset_of_word(word_of(address)) + offsetof(Word, stamp), new_stamp());
  syscall(SYS_futex, futex_of(address), FUTEX_WAKE_BITSET, INT_MAX, nullptr, nullptr,
          1U << (address % kBits));
}

WakeBoard::Slept WakeBoard::sleep(std::uint32_t seen, base::Duration at_most) const noexcept {
  // An absolute time of CLOCK_MONOTONIC, as the mask wants it.
  const base::Duration until = base::steady_clock().now().time_since_epoch() + at_most;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(until);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = (until - seconds).count()};
  const long slept = syscall(SYS_futex, futex_of(address_), FUTEX_WAIT_BITSET, seen, &time, nullptr,
                             1U << (address_ % kBits));
  if (slept == 0) {
    return Slept::till_woken;
  }
  if (errno == EAGAIN) {
    return Slept::not_at_all;
  }
  return errno == EINTR || errno == ETIMEDOUT ? Slept::well : Slept::badly;
}

std::uint32_t* WakeBoard::futex_of(Address address) const noexcept {
  static_assert(offsetof(Word, stamp) == 0);
  return static_cast<std::uint32_t*>(mapping_) +
         offset_of_word(word_of(address)) / sizeof(std::uint32_t);
}

}  // namespace holdfast::engines::sqlite::internal
