#include <holdfast/objects/internal/block_pool.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(address, size) static_cast<void>(0)
#endif

namespace holdfast::objects::internal {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = 2UL * 1024 * 1024;

constexpr std::size_t round_up(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}

}  // namespace

BlockPool::BlockPool(std::size_t block_size) noexcept
    : block_size_(round_up(block_size, kAlignment)) {}

BlockPool::~BlockPool() {
  for (void* const slab : slabs_) std::free(slab);  // which ends the poisoning, too
}

void* BlockPool::allocate() {
  const base::MutexLock lock(mutex_);
  if (free_ != nullptr) {
    void* const block = std::exchange(free_, free_->next);
    ASAN_UNPOISON_MEMORY_REGION(block, block_size_);
    return block;
  }
  if (unused_ == end_) {
    add_slab();
  }
  return std::exchange(unused_, unused_ + block_size_);
}

void BlockPool::free(void* block) noexcept {
  const base::MutexLock lock(mutex_);
  free_ = new (block) FreeBlock{free_};
  // AddressSanitizer reports the use of an object that has left, as it would without a pool.
  ASAN_POISON_MEMORY_REGION(static_cast<std::byte*>(block) + sizeof(FreeBlock),
                            block_size_ - sizeof(FreeBlock));
}

void BlockPool::add_slab() {
  const std::size_t count = std::max<std::size_t>(1, slab_size_ / block_size_);
  const bool is_huge = slab_size_ == kHugePage;
  const std::size_t alignment = is_huge ? kHugePage : kAlignment;
  const std::size_t size = round_up(count * block_size_, alignment);
  slabs_.reserve(slabs_.size() + 1);
  void* const slab = std::aligned_alloc(alignment, size);
  if (slab == nullptr) {
    throw std::bad_alloc();
  }
  slabs_.push_back(slab);
  if (is_huge) {
    static_cast<void>(::madvise(slab, size, MADV_HUGEPAGE));  // a wish: 4 KiB pages do, too
  }
  unused_ = static_cast<std::byte*>(slab);
  end_ = unused_ + count * block_size_;
  slab_size_ = std::min(2 * slab_size_, kHugePage);
}

}  // namespace holdfast::objects::internal
