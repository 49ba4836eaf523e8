#include <holdfast/local/internal/key_shard.h>

namespace holdfast::local::internal {

std::uint64_t KeyShard::copy_long_key(std::string_view key) {
  void* const bytes = std::malloc(key.size());
  if (bytes == nullptr) {
    throw std::bad_alloc();
  }
  std::memcpy(bytes, key.data(), key.size());
  return reinterpret_cast<std::uint64_t>(bytes);
}

void KeyShard::add_waiter(KeyEntry* entry, Waiter& waiter, Wakes& wakes) noexcept {
  waiter.entry = entry;
  waiters.add(waiter);
  entry->state |= KeyEntry::kQueued;
  if (waiters.first_for(entry) == &waiter && entry->admits_first(waiter.mode)) {
    hand_over(entry, waiter, wakes);
  }
}

void KeyShard::serve_first(KeyEntry* entry, Wakes& wakes) noexcept {
  Waiter& first = *waiters.first_for(entry);
  if (!entry->admits_first(first.mode)) {
    return;
  }
  if (first.overtaken || (first.woken && ++first.passes >= most_passes(waiters.size()))) {
    hand_over(entry, first, wakes);
  } else if (!first.woken) {
    wakes.retry(first);
  }
}

void KeyShard::hand_over(KeyEntry* entry, Waiter& first, Wakes& wakes) noexcept {
  Waiter* waiter = &first;
  do {
    Waiter* const next = WaitList::next_for(*waiter);
    waiters.remove(*waiter);
    entry->hold(waiter->mode);
    ++acquisitions;
    wakes.grant(*waiter);
    waiter = next;
  } while (waiter != nullptr && first.mode == Mode::shared && waiter->mode == Mode::shared);
  if (waiter == nullptr) {
    entry->state &= ~KeyEntry::kQueued;
  }
}

void KeyShard::answer_retry(KeyEntry* entry, Waiter& waiter) noexcept {
  Afterwards afterwards;
  const std::lock_guard guard(lock);
  waiter.signal.fetch_and(~Waiter::kRetry, std::memory_order_relaxed);
  if (waiter.granted) {
    return;
  }
  waiter.woken = false;
  const bool is_first = waiters.first_for(entry) == &waiter;
  if (is_first && entry->admits_first(waiter.mode)) {
    hand_over(entry, waiter, afterwards.wakes);
    return;
  }
  waiter.overtaken = true;
  if (!is_first) {
    serve_first(entry, afterwards.wakes);  // the wake-up was meant for the current first waiter
  }
}

bool KeyShard::give_up(KeyEntry* entry, Waiter& waiter) noexcept {
  Afterwards afterwards;
  const std::lock_guard guard(lock);
  if (waiter.granted) {
    return false;
  }
  waiters.remove(waiter);
  if (waiters.first_for(entry) == nullptr) {
    entry->state &= ~KeyEntry::kQueued;
  }
  settle(entry, afterwards);
  return true;
}

}  // namespace holdfast::local::internal
