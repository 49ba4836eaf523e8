#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/mutex.h>
#include <holdfast/metrics/internal/events.h>
#include <holdfast/metrics/internal/histogram.h>

namespace holdfast::metrics::internal {

// The counts of the names of one label.
struct Group {
  explicit Group(std::string_view its_label) : label(its_label) {}

  const std::string label;
  std::array<std::atomic<std::uint64_t>, kCounters.size()> counters{};
  std::array<Histogram, kDurations.size()> durations{};
};

// The groups by their labels: a hash table of fixed size that only grows fuller. Thread-safe;
// finding a group that exists takes no lock.
class GroupTable {
 public:
  // More bytes of a label do not count.
  static constexpr std::size_t kLongestLabel = 64;

  // A table for so many labels beside "other", which gets the events of all further ones.
  explicit GroupTable(std::size_t most);
  ~GroupTable();
  GroupTable(const GroupTable&) = delete;
  GroupTable& operator=(const GroupTable&) = delete;

  [[nodiscard]] Group& at(std::string_view label);

  // Calls `visit(group)` for each group.
  void for_each(const auto& visit) const {
    for (const auto& slot : slots_) {
      if (const Group* const group = slot.load(std::memory_order_acquire)) {
        visit(*group);
      }
    }
  }

 private:
  using Slot = std::atomic<Group*>;

  // Returns the slot of the label, or the empty one where it belongs.
  [[nodiscard]] Slot& slot_of(std::string_view label) noexcept;
  [[nodiscard]] Group& insert(std::string_view label);

  const std::size_t most_;
  std::vector<Slot> slots_;  // some are always empty, so that a search ends
  std::atomic<bool> is_full_ = false;

  base::Mutex mutex_;
  std::size_t size_ HOLDFAST_GUARDED_BY(mutex_) = 0;  // without "other"
};

}  // namespace holdfast::metrics::internal
