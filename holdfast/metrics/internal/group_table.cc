#include <holdfast/metrics/internal/group_table.h>

#include <bit>
#include <functional>

namespace holdfast::metrics::internal {

namespace {

constexpr std::string_view kOther = "other";

}  // namespace

GroupTable::GroupTable(std::size_t most) : most_(most), slots_(std::bit_ceil(2 * (most + 1))) {}

GroupTable::~GroupTable() {
  for (const Slot& slot : slots_) {
    delete slot.load(std::memory_order_relaxed);
  }
}

Group& GroupTable::at(std::string_view label) {
  label = label.substr(0, kLongestLabel);
  if (Group* const group = slot_of(label).load(std::memory_order_acquire)) [[likely]] {
    return *group;
  }
  // Acquires what the thread that filled the table had stored before.
  return is_full_.load(std::memory_order_acquire) ? *slot_of(kOther).load(std::memory_order_acquire)
                                                  : insert(label);
}

Group& GroupTable::insert(std::string_view label) {
  const base::MutexLock lock(mutex_);
  const bool has_room = size_ < most_ || label == kOther;
  const std::string_view wanted = has_room ? label : kOther;
  Slot& slot = slot_of(wanted);
  if (slot.load(std::memory_order_relaxed) == nullptr) {  // else another thread was quicker
    slot.store(new Group(wanted), std::memory_order_release);
    if (wanted != kOther) {
      ++size_;
    }
  }
  if (!has_room) {
    is_full_.store(true, std::memory_order_release);
  }
  return *slot.load(std::memory_order_relaxed);
}

GroupTable::Slot& GroupTable::slot_of(std::string_view label) noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = std::hash<std::string_view>{}(label)&mask;
  while (true) {
    const Group* const group = slots_[at].load(std::memory_order_acquire);
    if (group == nullptr || group->label == label) {
      return slots_[at];
    }
    at = (at + 1) & mask;
  }
}

}  // namespace holdfast::metrics::internal
