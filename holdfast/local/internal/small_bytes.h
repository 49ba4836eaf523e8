#pragma once

#include <cstddef>
#include <cstring>

#include <holdfast/local/internal/hash.h>

// For texts of a few dozen bytes, where a call to memcpy or memcmp costs more than its work. Both
// functions read and write exactly `size` bytes, in blocks that may overlap.
namespace holdfast::local::internal {

template <std::size_t kBlock>
[[gnu::always_inline]] inline void copy_blocks(char* to, const char* from,
                                               std::size_t size) noexcept {
  for (std::size_t at = 0; at + kBlock < size; at += kBlock) {
    std::memcpy(to + at, from + at, kBlock);
  }
  std::memcpy(to + size - kBlock, from + size - kBlock, kBlock);
}

// Copies; `to` and `from` must not overlap.
[[gnu::always_inline]] inline void copy_small(char* to, const char* from,
                                              std::size_t size) noexcept {
  if (size >= 16) {
    copy_blocks<16>(to, from, size);
  } else if (size >= 8) {
    copy_blocks<8>(to, from, size);
  } else if (size >= 4) {
    copy_blocks<4>(to, from, size);
  } else {
    for (std::size_t i = 0; i < size; ++i) {
      to[i] = from[i];
    }
  }
}

[[gnu::always_inline]] inline bool equal_small(const char* a, const char* b,
                                               std::size_t size) noexcept {
  if (size < 8) {
    if (size >= 4) {
      return load32(a) == load32(b) && load32(a + size - 4) == load32(b + size - 4);
    }
    for (std::size_t i = 0; i < size; ++i) {
      if (a[i] != b[i]) {
        return false;
      }
    }
    return true;
  }
  for (std::size_t at = 0; at + 8 < size; at += 8) {
    if (load64(a + at) != load64(b + at)) {
      return false;
    }
  }
  return load64(a + size - 8) == load64(b + size - 8);
}

}  // namespace holdfast::local::internal
