#pragma once

#include <cstdlib>
#include <new>

namespace holdfast::local::internal {

// Blocks from malloc to be freed later. Freeing can take a system call: declare the trash before
// the shard's guard, so that it is emptied after the shard is unlocked.
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

  // Adds a block that is no longer used and has room for at least one pointer; null is ignored.
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
