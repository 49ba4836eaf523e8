#include <holdfast/engines/memory/internal/record_table.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace holdfast::engines::memory::internal {

namespace {

constexpr std::size_t kLeastSlots = 8;

}  // namespace

std::uint64_t RecordTable::hash_of(std::string_view name) noexcept {
  return std::hash<std::string_view>{}(name);
}

void RecordTable::prefetch(std::uint64_t hash) const noexcept {
  if (!slots_.empty()) {
    __builtin_prefetch(&slots_[home_of(hash)]);
  }
}

void RecordTable::prefetch_entry(std::uint64_t hash) const noexcept {
  if (!slots_.empty()) {
    prefetch(slots_[home_of(hash)].entry.get());
  }
}

RecordTable::Entry* RecordTable::find(std::string_view name, std::uint64_t hash) noexcept {
  if (slots_.empty()) {
    return nullptr;
  }
  for (std::size_t slot = home_of(hash); slots_[slot].was_used; slot = next(slot)) {
    const Slot& candidate = slots_[slot];
    if (candidate.entry != nullptr && candidate.hash == hash && candidate.entry->name == name) {
      return candidate.entry.get();
    }
  }
  return nullptr;
}

RecordTable::Entry& RecordTable::find_or_add(std::string_view name, std::uint64_t hash) {
  if (Entry* const found = find(name, hash)) {
    return *found;
  }
  auto entry = std::make_unique<Entry>(std::string(name), store::Record{});
  if ((used_ + 1) * 3 > slots_.size() * 2) {
    rebuild();
  }
  std::size_t slot = home_of(hash);
  while (slots_[slot].entry != nullptr) {
    slot = next(slot);
  }
  used_ += std::exchange(slots_[slot].was_used, true) ? std::size_t{0} : std::size_t{1};
  slots_[slot].hash = hash;
  slots_[slot].entry = std::move(entry);
  ++size_;
  return *slots_[slot].entry;
}

void RecordTable::erase(const Entry& entry) noexcept {
  std::size_t slot = home_of(hash_of(entry.name));
  while (slots_[slot].entry.get() != &entry) {
    slot = next(slot);
  }
  slots_[slot].entry.reset();
  --size_;
  // If a search would end behind this slot anyway, this one and those before it are as good as new:
  // so a name that comes and goes does not fill the table.
  while (!slots_[next(slot)].was_used && slots_[slot].was_used && slots_[slot].entry == nullptr) {
    slots_[slot].was_used = false;
    --used_;
    slot = (slot + slots_.size() - 1) & (slots_.size() - 1);
  }
}

void RecordTable::rebuild() {
  std::vector<Slot> old(std::max(kLeastSlots, std::bit_ceil((size_ + 1) * 2)));
  old.swap(slots_);
  used_ = size_;
  ++moves_;
  for (Slot& from : old) {
    if (from.entry == nullptr) {
      continue;
    }
    std::size_t slot = home_of(from.hash);
    while (slots_[slot].was_used) {
      slot = next(slot);
    }
    slots_[slot] = std::move(from);
  }
}

}  // namespace holdfast::engines::memory::internal
