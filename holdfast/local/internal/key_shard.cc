#include <holdfast/local/internal/key_shard.h>

#include <bit>
#include <new>

namespace holdfast::local::internal {

std::uint64_t KeyShard::copy_long_key(std::string_view key) {
  void* const bytes = std::malloc(key.size());
  if (bytes == nullptr) {
    throw std::bad_alloc();
  }
  std::memcpy(bytes, key.data(), key.size());
  return reinterpret_cast<std::uint64_t>(bytes);
}

bool KeyShard::sample(std::uint32_t thread, std::uint32_t hash) noexcept {
  // If two threads come equally often, every second sample is of another thread.
  constexpr int kFor = 2;
  constexpr int kAgainst = 1;
  constexpr int kEnough = 16;
  const bool is_shared = thread != sampled_thread && hash != sampled_hash;
  sampled_thread = thread;
  sampled_hash = hash;
  sharing = is_shared ? sharing + kFor : std::max(sharing - kAgainst, 0);
  return sharing >= kEnough;
}

KeyEntry* KeyShard::add(KeyCell& cell, const KeyProbe& probe, Trash& trash) {
  const bool is_resident = cell.resident.state == 0;
  if (!is_resident && cache.head == nullptr) {
    pool.refill(cache);
  }
  const std::uint64_t word = first_word(probe);
  if (is_resident) {
    fill(cell.resident, probe, word);
    return &cell.resident;
  }
  KeyEntry* const entry = cache.pop();
  fill(*entry, probe, word);
  entries.insert(entry, trash);
  ++cell.others;
  return entry;
}

void KeyShard::remove_from_table(KeyCell& cell, KeyEntry* entry, Trash& trash) noexcept {
  const RestGuard rest(*this, cell);
  entries.remove(entry, trash);
  --cell.others;
  if (entry == &first_cell.resident) {
    return;  // was in use when the shard became wide, and will not be again
  }
  cache.push(entry);
  if (cache.has_spare_slabs != 0) {
    pool.trim(cache, entries.size(), trash);
  }
}

bool KeyShard::is_late(Waiter& first) noexcept {
  ++first.passes;
  return (std::has_single_bit(first.passes) || first.passes % kPassesPerLook == 0) &&
         std::chrono::steady_clock::now() - first.since >= kPatience;
}

void KeyShard::serve_first(KeyCell& cell, KeyEntry* entry, Wakes& wakes) noexcept {
  const RestGuard rest(*this, cell);
  serve(cell, entry, wakes);
}

void KeyShard::serve(KeyCell& cell, KeyEntry* entry, Wakes& wakes) noexcept {
  Waiter& first = *waiters.first_for(entry);
  if (!entry->admits_first(first.mode)) {
    return;
  }
  if (first.was_passed || is_late(first)) {
    hand_over(cell, entry, first, wakes);
  } else if (!first.woken) {
    wakes.retry(first);
  }
}

void KeyShard::hand_over(KeyCell& cell, KeyEntry* entry, Waiter& first, Wakes& wakes) noexcept {
  Waiter* waiter = &first;
  do {
    Waiter* const next = WaitList::next_for(*waiter);
    waiters.remove(*waiter);
    entry->hold(waiter->mode);
    ++cell.acquisitions;
    wakes.grant(*waiter);
    waiter = next;
  } while (waiter != nullptr && first.mode == Mode::shared && waiter->mode == Mode::shared);
  if (waiter == nullptr) {
    entry->state &= ~KeyEntry::kQueued;
  }
}

void KeyShard::add_waiter(KeyCell& cell, KeyEntry* entry, Waiter& waiter, Wakes& wakes) noexcept {
  const RestGuard rest(*this, cell);
  waiter.entry = entry;
  waiters.add(waiter);
  entry->state |= KeyEntry::kQueued;
  if (waiters.first_for(entry) == &waiter && entry->admits_first(waiter.mode)) {
    hand_over(cell, entry, waiter, wakes);
  }
}

void KeyShard::answer_retry(KeyCell& cell, KeyEntry* entry, Waiter& waiter, Wakes& wakes) noexcept {
  const RestGuard rest(*this, cell);
  waiter.signal.fetch_and(~Waiter::kRetry, std::memory_order_relaxed);
  if (waiter.granted) {
    return;
  }
  waiter.woken = false;
  const bool is_first = waiters.first_for(entry) == &waiter;
  if (is_first && entry->admits_first(waiter.mode)) {
    hand_over(cell, entry, waiter, wakes);
    return;
  }
  waiter.was_passed = true;
  if (!is_first) {
    serve(cell, entry, wakes);  // the wake-up was meant for the current first waiter
  }
}

bool KeyShard::give_up(KeyCell& cell, KeyEntry* entry, Waiter& waiter,
                       Afterwards& afterwards) noexcept {
  if (waiter.granted) {
    return false;
  }
  {
    const RestGuard rest(*this, cell);
    waiters.remove(waiter);
    if (waiters.first_for(entry) == nullptr) {
      entry->state &= ~KeyEntry::kQueued;
    }
  }
  settle(cell, entry, afterwards);
  return true;
}

void KeyShard::downgrade(KeyCell& cell, KeyEntry* entry, Wakes& wakes) noexcept {
  entry->unhold(Mode::exclusive);
  entry->hold(Mode::shared);
  if (entry->is_queued()) {
    const RestGuard rest(*this, cell);
    Waiter& first = *waiters.first_for(entry);
    if (first.mode == Mode::shared) {
      hand_over(cell, entry, first, wakes);
    }
  }
}

}  // namespace holdfast::local::internal
