#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

using Keys = std::vector<std::string>;

// `count` distinct keys of 13 characters, such as "object:123456", for a prefix of 7 and a count up
// to a million.
Keys make_keys(std::string_view prefix, std::size_t count);

// A repeating sequence whose period is a power of two: at() costs next to nothing.
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

// For each thread, 4,096 random keys, no key for two threads. The texts lie beside each other in
// the order of use, so reading them costs no cache miss: what is measured is the lock.
std::vector<Ring<std::string>> warm_rings(const Keys& keys, std::size_t threads);

// A million draws from all keys, each text a cache miss of its own.
Ring<const std::string*> cold_ring(const Keys& keys);

struct MixedDraw {
  const std::string* key;
  bool exclusive;
};

// For each thread, 65,536 draws by Zipf's law with exponent 0.99, a tenth of them exclusive.
std::vector<Ring<MixedDraw>> zipf_rings(const Keys& keys, std::size_t threads);

}  // namespace holdfast::bench
