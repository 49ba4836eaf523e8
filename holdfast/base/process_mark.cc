#include <holdfast/base/process_mark.h>

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace holdfast::base {

namespace {

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free);

// Maps a word that the kernel zeroes in a forked child. Returns null if the kernel cannot do that.
Word* map_word() noexcept {
  void* const memory =
      ::mmap(nullptr, sizeof(Word), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  if (::madvise(memory, sizeof(Word), MADV_WIPEONFORK) != 0) {
    ::munmap(memory, sizeof(Word));
    return nullptr;
  }
  return new (memory) Word(0);
}

// Not local to a function: a child could find its guard locked.
Word* const kWord = map_word();

}  // namespace

std::uint64_t ProcessMark::current() noexcept {
  std::uint64_t mark = kWord != nullptr ? kWord->load(std::memory_order_relaxed) : 0;
  if (mark == 0) [[unlikely]] {
    mark = static_cast<std::uint64_t>(::getpid());
    if (kWord != nullptr) {
      kWord->store(mark, std::memory_order_relaxed);
    }
  }
  return mark;
}

}  // namespace holdfast::base
