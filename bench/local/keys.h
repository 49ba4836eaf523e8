#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::bench {

using Keys = std::vector<std::string>;

// Returns `count` distinct keys of 13 characters, such as "object:123456", for a prefix of 7 and a
// count up to a million.
Keys make_keys(std::string_view prefix, std::size_t count);

// A repeating sequence whose period is a power of two: at() costs almost nothing.
template <class T>
class Ring {
 public:
  // The size is a power of two.
  explicit Ring(std::vector<T> items) : items_(std::move(items)), mask_(items_.size() - 1) {}

  [[nodiscard]] const T& at(std::uint64_t i) const { return items_[i & mask_]; }

 private:
  std::vector<T> items_;
  std::uint64_t mask_;
};

// The number of draws in a warm ring: too many to keep a contender's whole table in the cache. The
// texts are in the order of use, where the processor prefetches them: the lock is measured, not the
// reading of its key.
inline constexpr std::size_t kWarmDraws = std::size_t{1} << 18U;

// Returns, for each thread, random keys that no other thread has.
std::vector<Ring<std::string>> warm_rings(const Keys& keys, std::size_t threads);

struct MixedDraw {
  std::string key;
  bool exclusive;
};

// Returns, for each thread, keys by Zipf's law with exponent 0.99, a tenth of them to be held
// exclusively.
std::vector<Ring<MixedDraw>> zipf_rings(const Keys& keys, std::size_t threads);

// Returns a million draws from all keys in place, each text a cache miss.
Ring<const std::string*> cold_ring(const Keys& keys);

}  // namespace holdfast::bench
