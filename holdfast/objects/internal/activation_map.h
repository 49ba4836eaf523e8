#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/objects/internal/activation.h>

namespace holdfast::objects::internal {

// Activations by id: a flat table with linear probing, so that a lookup among a million objects
// touches one slot and the activation itself. Owns the activations. Not thread-safe.
class ActivationMap {
 public:
  // Returns null if there is none.
  [[nodiscard]] Activation* find(std::string_view id, std::size_t hash) const noexcept {
    return slots_.empty() ? nullptr : slots_[position(id, hash)].activation.get();
  }

  // Inserts an activation by its `id` and `hash`; there must be none of that id.
  void insert(std::unique_ptr<Activation> activation) {
    if (4 * (size_ + 1) > 3 * slots_.size()) {
      grow();
    }
    place(std::move(activation));
    ++size_;
  }

  // Returns null if there is none.
  std::unique_ptr<Activation> extract(std::string_view id, std::size_t hash) noexcept {
    if (find(id, hash) == nullptr) {
      return nullptr;
    }
    std::size_t hole = position(id, hash);
    std::unique_ptr<Activation> extracted = std::move(slots_[hole].activation);
    --size_;
    // Closes the gap: each of those behind it moves up unless that is before its own position.
    for (std::size_t at = next(hole); slots_[at].activation != nullptr; at = next(at)) {
      const std::size_t home = slots_[at].hash & mask();
      if (((at - home) & mask()) >= ((at - hole) & mask())) {
        slots_[hole] = std::move(slots_[at]);
        hole = at;
      }
    }
    return extracted;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.activation != nullptr) visit(*slot.activation);
    }
  }

 private:
  struct Slot {
    std::size_t hash = 0;
    std::unique_ptr<Activation> activation;
  };
  static constexpr std::size_t kFirstSlots = 8;  // a power of two, as all sizes are

  [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & mask(); }

  // Returns the position of the id, or of the empty slot where it would be.
  [[nodiscard]] std::size_t position(std::string_view id, std::size_t hash) const noexcept {
    std::size_t at = hash & mask();
    while (slots_[at].activation != nullptr &&
           (slots_[at].hash != hash || slots_[at].activation->id != id)) {
      at = next(at);
    }
    return at;
  }

  void place(std::unique_ptr<Activation> activation) noexcept {
    const std::size_t hash = activation->hash;
    std::size_t at = hash & mask();
    while (slots_[at].activation != nullptr) at = next(at);
    slots_[at] = {hash, std::move(activation)};
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? kFirstSlots : 2 * slots_.size());
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.activation != nullptr) place(std::move(slot.activation));
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace holdfast::objects::internal
