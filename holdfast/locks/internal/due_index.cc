#include <holdfast/locks/internal/due_index.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include <holdfast/base/saturate.h>
#include <holdfast/locks/internal/hold.h>

namespace holdfast::locks::internal {

namespace {

constexpr int kSlotsAhead = 16;
constexpr std::size_t kFetchedAhead = 8;  // into the cache
constexpr base::Duration kFinest = std::chrono::milliseconds(1);

// Returns the beginning of the slot in which `when` lies; later than now if `when` is.
base::TimePoint slot_of(base::TimePoint when, base::TimePoint now) noexcept {
  const base::Duration share = base::subtract_saturating(when, now) / kSlotsAhead;
  const auto ahead = static_cast<std::uint64_t>(std::max(share, base::Duration::zero()).count());
  const base::Duration width(static_cast<base::Duration::rep>(std::bit_floor(ahead)));
  if (width < kFinest) {
    return when;
  }
  return when - when.time_since_epoch() % width;
}

}  // namespace

base::TimePoint DueIndex::put(Hold& hold, base::TimePoint when, base::TimePoint now) {
  const base::TimePoint due = slot_of(when, now);
  DueSlot& slot = slots_[due];
  slot.push_back(&hold);
  hold.*place_ = {.slot = &slot, .index = slot.size() - 1};
  ++size_;
  return due;
}

void DueIndex::remove(Hold& hold) noexcept {
  DuePlace& place = hold.*place_;
  if (place.slot == nullptr) {
    return;
  }
  Hold& last = *place.slot->back();
  (*place.slot)[place.index] = &last;
  (last.*place_).index = place.index;
  place.slot->pop_back();
  place.slot = nullptr;
  --size_;
}

void DueIndex::take_due(base::TimePoint now, std::size_t most, std::vector<Hold*>& due) {
  while (!slots_.empty() && slots_.begin()->first <= now) {
    DueSlot& slot = slots_.begin()->second;
    for (; !slot.empty() && most > 0; --most) {
      Hold& hold = *slot.back();
      if (slot.size() > kFetchedAhead) {
        __builtin_prefetch(&(slot[slot.size() - 1 - kFetchedAhead]->*place_));
      }
      slot.pop_back();
      (hold.*place_).slot = nullptr;
      --size_;
      ++visits_;
      due.push_back(&hold);
    }
    if (!slot.empty()) {
      return;
    }
    slots_.erase(slots_.begin());
  }
}

base::TimePoint DueIndex::next() const noexcept {
  return slots_.empty() ? base::TimePoint::max() : slots_.begin()->first;
}

}  // namespace holdfast::locks::internal
