#pragma once

#include <cstdlib>
#include <new>

namespace holdfast::local::internal {

// Blocks from malloc to be freed later. Giving memory back can take a system call: declare the
// trash before the shard's guard, so that it is emptied when the shard is unlocked again.
class Trash {
 public:
  Trash() = default;
  Trash(const Trash&) = delete;
  Trash& operator=(const Trash&) = delete;
  ~Trash() {
    while (head_ != nullptr) [[unlikely]] {
      Link* const next = head_->next;
      std::free(head_);
      head_ = next;
    }
  }

  // `block` holds at least one pointer and is not used any more; null is nothing to free.
  void add(void* block) noexcept {
    if (block != nullptr) {
      head_ = new (block) Link{head_};
    }
  }

 private:
  struct Link {
    Link* next;
  };
  Link* head_ = nullptr;
};

}  // namespace holdfast::local::internal
