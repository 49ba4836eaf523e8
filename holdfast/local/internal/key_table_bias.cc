// The part of KeyTable that keeps readers of a busy key from sharing a cache line: see
// reader_bias.h.
#include <holdfast/local/internal/key_shard.h>
#include <holdfast/local/internal/key_table.h>

namespace holdfast::local::internal {

namespace {

constexpr std::uint64_t tag_of(std::uint64_t slot_value) noexcept {
  return slot_value & ~kSlotCountMask;
}

constexpr std::size_t index_in(std::uint64_t tag) noexcept {
  return (tag >> kSlotCountBits) % (std::size_t{1} << kMostShardBits);
}

KeyEntry* adopter(std::uint64_t slot_value) noexcept {
  return reinterpret_cast<KeyEntry*>(slot_value & ~kAdopted);
}

}  // namespace

ReaderSlot* KeyTable::try_acquire_slot(const KeyProbe& probe) noexcept {
  const std::size_t index = shard_index(probe.tag());
  const ReaderBias& bias = shards_[index].bias;
  const std::uint64_t tag = bias.tag(std::memory_order_acquire);
  if (tag == 0 || !bias.matches(probe)) {
    return nullptr;
  }
  ReaderSlot& slot = slots_.mine(index);
  std::uint64_t count = slot.load(std::memory_order_relaxed);
  if (tag_of(count) != 0) {
    return nullptr;
  }
  if (count == kSlotCountMask) [[unlikely]] {
    if (!slot.compare_exchange_strong(count, 0)) {
      return nullptr;
    }
    slot_uses_.fetch_add(count, std::memory_order_relaxed);
    count = 0;
  }
  std::uint64_t held = tag | (count + 1);
  if (!slot.compare_exchange_strong(count, held, std::memory_order_seq_cst)) {
    return nullptr;
  }
  if (bias.tag(std::memory_order_seq_cst) == tag) [[likely]] {
    return &slot;
  }
  // The bias ended meanwhile. Back out, unless the writer has seen the slot and counts us already.
  return slot.compare_exchange_strong(held, count, std::memory_order_seq_cst) ? nullptr : &slot;
}

void KeyTable::release_slot(ReaderSlot& slot) noexcept {
  std::uint64_t value = slot.load(std::memory_order_acquire);
  while ((value & kAdopted) == 0) {
    if (slot.compare_exchange_weak(value, value & kSlotCountMask, std::memory_order_release,
                                   std::memory_order_acquire)) {
      return;
    }
  }
  slot.exchange(0, std::memory_order_release);
  release<Mode::shared>(adopter(value));
}

KeyEntry* KeyTable::try_upgrade_slot(ReaderSlot& slot) {
  std::uint64_t value = slot.load(std::memory_order_acquire);
  std::string key;
  if ((value & kAdopted) == 0) {
    // The bias is towards the same key for as long as this slot carries its tag.
    key = shards_[index_in(value)].bias.key();
    value = slot.load(std::memory_order_acquire);
  }
  const bool was_adopted = (value & kAdopted) != 0;
  const KeyProbe key_probe = probe(key);
  Afterwards afterwards;
  const CellGuard guard(lock_cell(was_adopted ? adopter(value)->hash : key_probe.tag()));
  KeyCell& cell = guard.cell();
  value = slot.load(std::memory_order_acquire);
  if ((value & kAdopted) == 0) {
    KeyShard& shard = shard_of(key_probe.tag());
    const RestGuard rest(shard, cell);
    end_bias_towards(cell, key_probe, shard.find(cell, key_probe), afterwards);
    value = slot.load(std::memory_order_relaxed);
  }
  KeyEntry* const entry = adopter(value);
  if (!entry->try_upgrade()) {
    return nullptr;
  }
  slot.exchange(0, std::memory_order_release);
  return entry;
}

void KeyTable::bias_towards(KeyCell& cell, std::string_view key) noexcept {
  if (key.size() > ReaderBias::kMaxKey) {
    return;
  }
  const KeyProbe key_probe = probe(key);
  KeyShard& shard = shard_of(key_probe.tag());
  const RestGuard rest(shard, cell);
  if (shard.bias_tag != 0) {
    if (shard.bias.matches(key_probe)) {
      return;
    }
    // One key of a shard at a time: replaces the older bias if its key has no reader.
    shard.bias.clear();
    if (slot_readers(shard) != 0) {
      shard.bias.restore(shard.bias_tag);
      return;
    }
  }
  const std::uint64_t generation = ++shard.bias_generation;
  shard.bias_tag =
      ((generation << kMostShardBits | shard_index(key_probe.tag())) << kSlotCountBits) & ~kAdopted;
  shard.bias.set(key_probe, shard.bias_tag);
  shard.biased_cell = &cell;
  cell.may_be_biased = true;
}

[[gnu::noinline]] KeyEntry* KeyTable::end_bias_towards(KeyCell& cell, const KeyProbe& probe,
                                                       KeyEntry* entry, Afterwards& afterwards) {
  KeyShard& shard = shard_of(probe.tag());
  cell.may_be_biased = shard.biased_cell == &cell;
  if (!cell.may_be_biased || !shard.bias.matches(probe)) {
    return entry;
  }
  if (entry == nullptr) {
    entry = shard.add(cell, probe, afterwards.trash);
  }
  const std::uint64_t tag = shard.bias_tag;
  shard.bias.clear();
  shard.bias_tag = 0;
  shard.biased_cell = nullptr;
  cell.may_be_biased = false;
  slots_.for_each(shard_index(entry->hash), [&](ReaderSlot& slot) {
    std::uint64_t value = slot.load(std::memory_order_seq_cst);
    while (tag_of(value) == tag) {
      if (slot.compare_exchange_weak(value, kAdopted | reinterpret_cast<std::uint64_t>(entry),
                                     std::memory_order_seq_cst)) {
        entry->hold(Mode::shared);
        slot_uses_.fetch_add(value & kSlotCountMask, std::memory_order_relaxed);
        return;
      }
    }
  });
  return entry;
}

std::size_t KeyTable::slot_readers(const KeyShard& shard) noexcept {
  if (shard.bias_tag == 0) {
    return 0;
  }
  std::size_t readers = 0;
  slots_.for_each(index_in(shard.bias_tag), [&](const ReaderSlot& slot) {
    readers += tag_of(slot.load(std::memory_order_seq_cst)) == shard.bias_tag ? 1U : 0U;
  });
  return readers;
}

}  // namespace holdfast::local::internal
