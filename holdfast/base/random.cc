#include <holdfast/base/random.h>

#include <sys/mman.h>
#include <sys/random.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>
#include <span>
#include <system_error>

namespace holdfast::base {
namespace {

void fill_from_kernel(std::span<std::uint64_t> words) {
  std::span<std::byte> bytes = std::as_writable_bytes(words);
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      throw std::system_error{errno, std::generic_category(), "getrandom"};
    }
  }
}

// Identifies the process that filled a buffer. It is in memory that the kernel zeroes in a forked
// child, even if the fork runs no pthread_atfork handlers. 0 means "not yet chosen".
using Stamp = std::atomic<std::uint64_t>;
static_assert(Stamp::is_always_lock_free);

// Maps the stamp. Returns null if the kernel cannot zero memory on fork; then nothing is buffered.
Stamp* map_stamp() noexcept {
  void* memory =
      ::mmap(nullptr, sizeof(Stamp), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (::madvise(memory, sizeof(Stamp), MADV_WIPEONFORK) != 0) {
    ::munmap(memory, sizeof(Stamp));
    return nullptr;
  }
  return new (memory) Stamp{0};
}

// Not a function-local static: a fork while another thread initialises one would leave its guard
// locked in the child. A call before this is initialised sees null, and does not buffer.
Stamp* const kProcessStamp = map_stamp();

std::uint64_t read_stamp() {
  std::uint64_t stamp = kProcessStamp->load(std::memory_order_acquire);
  if (stamp != 0) return stamp;
  std::uint64_t fresh = 0;
  fill_from_kernel({&fresh, 1});
  fresh |= 1U;
  return kProcessStamp->compare_exchange_strong(stamp, fresh) ? fresh : stamp;
}

// Two kilobytes: enough to make the system call cheap per random number.
struct Buffer {
  std::uint64_t stamp = 0;
  std::size_t left = 0;
  std::array<std::uint64_t, 256> words{};
};

// Trivially destructible, so usable while other thread-local objects are being destroyed.
constinit thread_local Buffer buffer;

}  // namespace

std::uint64_t random_u64() {
  if (kProcessStamp == nullptr) {
    std::uint64_t word = 0;
    fill_from_kernel({&word, 1});
    return word;
  }
  const std::uint64_t stamp = read_stamp();
  if (buffer.left == 0 || buffer.stamp != stamp) {
    buffer.left = 0;
    fill_from_kernel(buffer.words);
    buffer.stamp = stamp;
    buffer.left = buffer.words.size();
  }
  return buffer.words[--buffer.left];
}

}  // namespace holdfast::base
