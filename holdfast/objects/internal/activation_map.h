#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <holdfast/objects/internal/activation.h>

namespace holdfast::objects::internal {

// Activations by id: a flat table with linear probing, so that a lookup among a million objects
// touches one slot and the activation itself. A slot is one word, the address and in its free bits
// a part of the hash: small slots stay in the caches. Owns the activations. Not thread-safe.
class ActivationMap {
 public:
  ActivationMap() noexcept = default;
  ~ActivationMap() {
    for_each([](Activation& activation) { delete &activation; });
  }
  ActivationMap(const ActivationMap&) = delete;
  ActivationMap& operator=(const ActivationMap&) = delete;

  // Returns null if there is none.
  [[nodiscard]] Activation* find(std::string_view id, std::size_t hash) const noexcept {
    return slots_.empty() ? nullptr : at(position(id, hash));
  }

  // Starts to fetch the slot of this hash from memory. May be called while another thread inserts:
  // then it may fetch something useless.
  void prefetch(std::size_t hash) const noexcept {
    __builtin_prefetch(hint_.load(std::memory_order_relaxed) +
                       (hash & hint_mask_.load(std::memory_order_relaxed)));
  }

  // Inserts an activation by its `id` and `hash`; there must be none of that id.
  void insert(std::unique_ptr<Activation> activation) {
    if (4 * (size_ + 1) > 3 * slots_.size()) {
      grow();
    }
    place(activation.release());
    ++size_;
  }

  // Returns null if there is none.
  std::unique_ptr<Activation> extract(std::string_view id, std::size_t hash) noexcept {
    if (find(id, hash) == nullptr) {
      return nullptr;
    }
    std::size_t hole = position(id, hash);
    std::unique_ptr<Activation> extracted(at(hole));
    --size_;
    // Closes the gap: each of those behind it moves up unless that is before its own position.
    for (std::size_t next = after(hole); slots_[next] != 0; next = after(next)) {
      const std::size_t home = at(next)->hash & mask();
      if (((next - home) & mask()) >= ((next - hole) & mask())) {
        slots_[hole] = slots_[next];
        hole = next;
      }
    }
    slots_[hole] = 0;
    return extracted;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // Returns how many slots the lookups have visited, for tests of their cost.
  [[nodiscard]] std::uint64_t probes() const noexcept { return probes_; }

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Slot slot : slots_) {
      if (slot != 0) visit(*activation_of(slot));
    }
  }

 private:
  using Slot = std::uint64_t;                        // 0: empty
  static constexpr Slot kTag = Slot{0xFFFF} << 48U;  // no address of a process is that large
  static constexpr std::size_t kFirstSlots = 8;      // a power of two, as all sizes are
  static_assert(sizeof(void*) == sizeof(Slot) && sizeof(std::size_t) == sizeof(Slot));

  static Activation* activation_of(Slot slot) noexcept {
    return reinterpret_cast<Activation*>(slot & ~kTag);
  }
  [[nodiscard]] Activation* at(std::size_t place) const noexcept {
    return activation_of(slots_[place]);
  }
  [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }
  [[nodiscard]] std::size_t after(std::size_t place) const noexcept { return (place + 1) & mask(); }

  // Returns the position of the id, or of the empty slot where it would be.
  [[nodiscard]] std::size_t position(std::string_view id, std::size_t hash) const noexcept {
    std::size_t place = hash & mask();
    ++probes_;
    for (; slots_[place] != 0; ++probes_) {
      if (((slots_[place] ^ hash) & kTag) == 0) {
        // Most probably this one: fetches the object together with the activation.
        __builtin_prefetch(at(place) + 1);
        if (at(place)->id == id) break;
      }
      place = after(place);
    }
    return place;
  }

  void place(Activation* activation) noexcept {
    std::size_t free = activation->hash & mask();
    while (slots_[free] != 0) free = after(free);
    slots_[free] = reinterpret_cast<Slot>(activation) | (activation->hash & kTag);
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? kFirstSlots : 2 * slots_.size());
    old.swap(slots_);
    hint_.store(slots_.data(), std::memory_order_relaxed);
    hint_mask_.store(mask(), std::memory_order_relaxed);
    for (const Slot slot : old) {
      if (slot != 0) place(activation_of(slot));
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
  mutable std::uint64_t probes_ = 0;
  std::atomic<const Slot*> hint_ = nullptr;  // where the slots are, for `prefetch`
  std::atomic<std::size_t> hint_mask_ = 0;
};

}  // namespace holdfast::objects::internal
