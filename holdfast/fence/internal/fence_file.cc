#include <holdfast/fence/internal/fence_file.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/base/clock.h>
#include <holdfast/base/try.h>
#include <holdfast/fence/internal/file_calls.h>
#include <holdfast/fence/refusal.h>

namespace holdfast::fence::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using base::fail;
using base::FencingToken;
using base::Result;

constexpr std::size_t kDigits = 20;
constexpr std::size_t kLineSize = 2 * (kDigits + 1);  // "…20… …20…\n"
constexpr std::size_t kLines = 2;

struct Contents {
  std::array<std::optional<FencingToken>, kLines> lines;
  bool young = true;  // its folder entry may not be on the disk yet

  [[nodiscard]] std::optional<FencingToken> newest() const {
    return std::ranges::max(lines);  // nullopt is less than any token
  }
};

std::string line_of(FencingToken token) {
  std::string digits = to_string(token);
  digits.insert(0, kDigits - digits.size(), '0');
  return digits + ' ' + digits + '\n';
}

std::optional<FencingToken> token_of(std::string_view line) {
  std::uint64_t value = 0;
  const char* const end = line.data() + std::min(line.size(), kDigits);
  if (const auto [after, error] = std::from_chars(line.data(), end, value);
      error != std::errc() || after != end || line_of(FencingToken{value}) != line) {
    return std::nullopt;
  }
  return FencingToken{value};
}

// Returns whether a token's line may begin like this: padded with zeros, it is the smallest token
// that begins so.
bool begins_a_line(std::string_view text) {
  std::string digits(text.substr(0, kDigits));
  digits.resize(kDigits, '0');
  const std::string line = digits + ' ' + digits + '\n';
  return line.starts_with(text) && token_of(line);
}

Result<Contents> read(int descriptor, const std::filesystem::path& file) {
  std::array<char, kLines * kLineSize> bytes{};
  const auto size = read_at_start(descriptor, bytes);
  if (!size) {
    return std::unexpected(failure("read", file, size.error()));
  }
  const std::string_view text(bytes.data(), *size);
  Contents contents;
  contents.young = text.size() < bytes.size();
  for (std::size_t i = 0; i < kLines && i * kLineSize < text.size(); ++i) {
    contents.lines[i] = token_of(text.substr(i * kLineSize, kLineSize));
  }
  if (!contents.newest() && !begins_a_line(text)) {
    return fail(ErrorCode::corrupt,
                "the file " + name_of(file) +
                    " does not hold a fencing token and is left as it is: when no holder from "
                    "before can be alive, remove it");
  }
  return contents;
}

// Not a pipe, which would block or swallow what is written, and not a file that also has another
// name, which somebody may have linked here to have it written to.
Result<void> check_kind(int descriptor, const std::filesystem::path& file) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) {
    return std::unexpected(failure("look at", file, errno));
  }
  if (S_ISREG(status.st_mode) && status.st_nlink <= 1) {
    return {};
  }
  return fail(ErrorCode::corrupt,
              "the file " + name_of(file) +
                  (S_ISREG(status.st_mode) ? " has a second name (a hard link)"
                                           : " is not a regular file") +
                  " and is left as it is: when no holder from before can be alive, remove it");
}

}  // namespace

Result<FenceFile> FenceFile::lock(const std::filesystem::path& file, base::Deadline deadline) {
  while (true) {
    const auto descriptor = open_file(file, O_RDWR | O_CREAT | O_NONBLOCK, 0666);
    if (!descriptor) {
      return std::unexpected(failure("open", file, descriptor.error()));
    }
    FenceFile opened(file, *descriptor);
    HOLDFAST_TRY(check_kind(*descriptor, file));
    HOLDFAST_TRY(opened.wait_for_lock(deadline));
    if (opened.is_still_there()) {
      return opened;
    }
  }
}

Result<std::optional<FencingToken>> FenceFile::peek(const std::filesystem::path& file) {
  const auto descriptor = open_file(file, O_RDONLY | O_NONBLOCK);
  if (!descriptor) {
    if (descriptor.error() == ENOENT) {
      return std::nullopt;
    }
    return std::unexpected(failure("open", file, descriptor.error()));
  }
  const FenceFile opened(file, *descriptor);
  HOLDFAST_TRY(check_kind(*descriptor, file));
  HOLDFAST_TRY_LET(const auto contents, read(*descriptor, file));
  return contents.newest();
}

FenceFile::FenceFile(FenceFile&& other) noexcept
    : file_(std::move(other.file_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      unlocks_(std::exchange(other.unlocks_, 0)) {}

FenceFile::~FenceFile() {
  // Closing alone would leave the lock with a child that was forked meanwhile and has the
  // descriptor.
  if (unlocks_ != 0 && unlocks_ == ::getpid()) {
    ::flock(descriptor_, LOCK_UN);
  }
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

Result<void> FenceFile::hand_down() {
  if (::fcntl(descriptor_, F_SETFD, 0) != 0) {
    return std::unexpected(failure("hand down the lock of", file_, errno));
  }
  unlocks_ = 0;
  return {};
}

Result<void> FenceFile::admit(FencingToken token) {
  HOLDFAST_TRY_LET(const auto contents, read(descriptor_, file_));
  const std::optional<FencingToken> newest = contents.newest();
  if (newest > token) {
    return std::unexpected(refusal(token, *newest));
  }
  if (newest < token) {
    const bool to_first = contents.lines[0] <= contents.lines[1];
    const off_t offset = to_first ? 0 : kLineSize;
    if (const int error = write_all_at(descriptor_, line_of(token), offset); error != 0) {
      return std::unexpected(failure("write", file_, error));
    }
  }
  // Also for a token that was there already: its writer may have been killed before this.
  if (::fdatasync(descriptor_) != 0) {
    return std::unexpected(failure("write", file_, errno));
  }
  if (const int error = contents.young ? sync_folder_of(file_) : 0; error != 0) {
    return std::unexpected(failure("make", file_, error));
  }
  return {};
}

Result<void> FenceFile::wait_for_lock(base::Deadline deadline) {
  constexpr base::Duration kLongestPause = 20ms;
  const base::Clock& clock = base::steady_clock();
  base::Duration pause = 100us;
  while (true) {
    HOLDFAST_TRY_LET(const auto locked, try_lock());
    if (locked) {
      return {};
    }
    const base::TimePoint now = clock.now();
    if (deadline.expired(now)) {
      return fail(ErrorCode::timed_out,
                  "another process holds the lock of " + name_of(file_) +
                      ": it writes, was stopped in the middle of it, or locked the "
                      "file itself: find it with fuser(1)");
    }
    // flock has no time limit.
    clock.sleep_until(std::min(base::add_saturating(now, pause), deadline.when()), {});
    pause = std::min(pause * 2, kLongestPause);
  }
}

Result<bool> FenceFile::try_lock() {
  while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return false;
    }
    if (errno != EINTR) {
      return std::unexpected(failure("lock", file_, errno));
    }
  }
  unlocks_ = ::getpid();
  return true;
}

// Returns false if the file was removed while we waited for its lock: our lock then excludes no
// other writer.
bool FenceFile::is_still_there() const {
  struct stat ours{};
  struct stat there{};
  return ::fstat(descriptor_, &ours) == 0 && ::stat(file_.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

}  // namespace holdfast::fence::internal
