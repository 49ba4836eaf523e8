#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

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
  void add_slab();

  const std::size_t block_size_;
  std::mutex mutex_;
  // Protected by mutex_.
  std::vector<void*> slabs_;
  FreeBlock* free_ = nullptr;
  std::byte* unused_ = nullptr;  // the rest of the last slab
  std::byte* end_ = nullptr;
  std::size_t slab_size_ = 4096;  // of the next slab, at least one block
};

}  // namespace holdfast::objects::internal
