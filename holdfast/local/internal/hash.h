#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace holdfast::local::internal {

inline std::uint64_t load64(const char* p) noexcept {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

inline std::uint64_t load32(const char* p) noexcept {
  std::uint32_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// Returns the folded halves of the 128-bit product: each input bit reaches every output bit.
inline std::uint64_t multiply_fold(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

inline constexpr std::uint64_t kMixA = 0x9E3779B97F4A7C15ULL;
inline constexpr std::uint64_t kMixB = 0xD1B54A32D192ED03ULL;
inline constexpr std::uint64_t kMixC = 0x8CB92BA72F3D8DD7ULL;

// The secret seed of one table's hashes: without it, nobody outside the process can choose keys
// that collide. Both factors of a product contain a part of it: a factor that an outsider could
// make zero would cancel the other.
struct HashSeed {
  explicit(false) HashSeed(std::uint64_t seed) noexcept
      : a(seed), b(multiply_fold(seed ^ kMixB, kMixA)) {}

  std::uint64_t a;
  std::uint64_t b;
};

inline std::uint64_t hash_words(std::uint64_t lo, std::uint64_t hi, const HashSeed& seed) noexcept {
  return multiply_fold(multiply_fold(lo ^ seed.a, hi ^ seed.b) ^ kMixB, kMixC);
}

// Hashes `size` >= 16 bytes; reads each byte at least once and nothing beyond.
inline std::uint64_t hash_long(const char* bytes, std::size_t size, const HashSeed& seed) noexcept {
  std::uint64_t state = size * kMixB;
  const char* const last = bytes + size - 16;
  for (const char* p = bytes; p < last; p += 16) {
    state = multiply_fold(load64(p) ^ state ^ seed.a, load64(p + 8) ^ seed.b);
  }
  return hash_words(load64(last) ^ state, load64(last + 8), seed);
}

}  // namespace holdfast::local::internal
