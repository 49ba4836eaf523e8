#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <holdfast/local/internal/hash.h>

namespace holdfast::local::internal {

// Keys up to this size live inside the two words of a probe or an entry.
inline constexpr std::size_t kShortKey = 15;
// The top byte of `hi` for a long key, where a short key has its size; the other bytes are then the
// long key's size.
inline constexpr std::uint64_t kLongKey = std::uint64_t{0xFF} << 56U;
static_assert(std::endian::native == std::endian::little, "short keys are packed low byte first");

// A key prepared for all operations of a table: its hash and, for a short key, its bytes as two
// words with the size in the top byte, so that equality is two comparisons. Borrows the key's
// bytes.
struct KeyProbe {
  [[gnu::always_inline]] inline KeyProbe(std::string_view key, const HashSeed& seed) noexcept
      : text(key) {
    const char* const p = key.data();
    const std::size_t n = key.size();
    if (n > 8 && n <= kShortKey) [[likely]] {
      lo = load64(p);
      hi = load64(p + n - 8) >> (8 * (16 - n));
    } else if (n > kShortKey) {
      hi = kLongKey | n;
      hash = hash_long(p, n, seed);
      return;
    } else if (n == 8) {
      lo = load64(p);
    } else if (n >= 4) {
      lo = load32(p) | load32(p + n - 4) << (8 * (n - 4));
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        lo |= static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
      }
    }
    hi |= static_cast<std::uint64_t>(n) << 56U;
    hash = hash_words(lo, hi, seed);
  }

  [[nodiscard]] bool is_short() const noexcept { return text.size() <= kShortKey; }
  // Returns the part of the hash that a chain compares first; independent of the bits that choose
  // the shard.
  [[nodiscard]] std::uint32_t tag() const noexcept { return static_cast<std::uint32_t>(hash); }

  std::string_view text;
  std::uint64_t lo = 0;
  std::uint64_t hi = 0;
  std::uint64_t hash = 0;
};

}  // namespace holdfast::local::internal
