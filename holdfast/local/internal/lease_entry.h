#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include <holdfast/local/internal/key_probe.h>
#include <holdfast/local/internal/small_bytes.h>
#include <holdfast/local/internal/trash.h>

namespace holdfast::local::internal {

// The key and owner of one lease, prepared before the lease is stored: text that does not fit into
// an entry is on the heap. Throws std::bad_alloc.
class LeaseText {
 public:
  static constexpr std::size_t kInline = 50;
  // Replaces a key's size.
  static constexpr std::uint8_t kOnHeap = 0xFF;

  struct Block {
    std::size_t key_size;
    std::size_t owner_size;
    [[nodiscard]] char* bytes() noexcept { return reinterpret_cast<char*>(this + 1); }
  };

  static bool fits(std::string_view key, std::string_view owner) noexcept {
    return key.size() + owner.size() <= kInline;
  }

  [[gnu::noinline]] static Block* to_heap(std::string_view key, std::string_view owner) {
    void* const memory = std::malloc(sizeof(Block) + key.size() + owner.size());
    if (memory == nullptr) {
      throw std::bad_alloc();
    }
    Block* const block = new (memory) Block{key.size(), owner.size()};
    std::memcpy(block->bytes(), key.data(), key.size());
    std::memcpy(block->bytes() + key.size(), owner.data(), owner.size());
    return block;
  }
};

// One lease in the table. Protected by its shard's lock.
struct LeaseEntry {
  LeaseEntry* next;
  std::int64_t expiry;  // nanoseconds on the table's clock
  std::uint64_t token;
  std::uint32_t hash;
  std::uint8_t key_size;
  std::uint8_t owner_size;
  char text[LeaseText::kInline];  // key, then owner; or the address of a LeaseText::Block

  [[nodiscard]] bool is_for(const KeyProbe& probe) const noexcept {
    return hash == probe.tag() && equal(key(), probe.text);
  }
  [[nodiscard]] bool is_owned_by(std::string_view name) const noexcept {
    return equal(owner(), name);
  }
  [[nodiscard]] std::string_view key() const noexcept {
    if (key_size == LeaseText::kOnHeap) [[unlikely]] {
      return {block()->bytes(), block()->key_size};
    }
    return {text, key_size};
  }
  [[nodiscard]] std::string_view owner() const noexcept {
    if (key_size == LeaseText::kOnHeap) [[unlikely]] {
      return {block()->bytes() + block()->key_size, block()->owner_size};
    }
    return {text + key_size, owner_size};
  }

  [[gnu::always_inline]] inline void set_text(std::string_view key, std::string_view owner) {
    if (LeaseText::fits(key, owner)) [[likely]] {
      key_size = static_cast<std::uint8_t>(key.size());
      owner_size = static_cast<std::uint8_t>(owner.size());
      copy_small(text, key.data(), key.size());
      copy_small(text + key.size(), owner.data(), owner.size());
      return;
    }
    LeaseText::Block* const block = LeaseText::to_heap(key, owner);
    key_size = LeaseText::kOnHeap;
    std::memcpy(text, &block, sizeof block);
  }
  void drop_text(Trash& trash) const noexcept {
    if (key_size == LeaseText::kOnHeap) [[unlikely]] {
      trash.add(block());
    }
  }

 private:
  static bool equal(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && equal_small(a.data(), b.data(), a.size());
  }
  [[nodiscard]] LeaseText::Block* block() const noexcept {
    LeaseText::Block* block = nullptr;
    std::memcpy(&block, text, sizeof block);
    return block;
  }
};

static_assert(sizeof(LeaseEntry) == 80);

}  // namespace holdfast::local::internal
