#pragma once

#include <cstddef>
#include <vector>

#include <holdfast/base/mutex.h>

namespace holdfast::objects::internal {

// Memory for the objects of one type: blocks of one size, cut from slabs of up to 2 MiB, which the
// kernel may back with huge pages. So a call among a million objects misses the cache for its
// object, but not also for the page table.
//
// Thread-safe. A freed block is kept for the next object; slabs are freed by the destructor, when
// no block may be in use.
class BlockPool {
 public:
  // Blocks begin at multiples of 64 bytes.
  explicit BlockPool(std::size_t block_size) noexcept;
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // Throws std::bad_alloc.
  [[nodiscard]] void* allocate();
  void free(void* block) noexcept;

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  void add_slab() HOLDFAST_REQUIRES(mutex_);

  const std::size_t block_size_;
  base::Mutex mutex_;
  std::vector<void*> slabs_ HOLDFAST_GUARDED_BY(mutex_);
  FreeBlock* free_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;
  // The rest of the last slab.
  std::byte* unused_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;
  std::byte* end_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;
  // The size of the next slab, at least one block.
  std::size_t slab_size_ HOLDFAST_GUARDED_BY(mutex_) = 4096;
};

}  // namespace holdfast::objects::internal
