#include <holdfast/async/internal/key_table.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>
#include <utility>

namespace holdfast::async::internal {

using std::chrono::steady_clock;

KeyWaiter::KeyWaiter(KeyTable& its_table, std::size_t its_hash, KeyMode its_mode) noexcept
    : table(its_table), hash(its_hash), mode(its_mode) {
  table.add_reference();
}

KeyWaiter::~KeyWaiter() { table.drop_reference(); }

bool KeyWaiter::withdraw(WaiterQueue& let_in) noexcept { return table.withdraw(*this, let_in); }

std::size_t KeyTable::hash(std::string_view key) { return std::hash<std::string_view>{}(key); }

KeyAttempt KeyTable::try_enter(std::string_view key, KeyMode mode) noexcept {
  const std::size_t hashed = hash(key);
  Shard& shard = shard_of(hashed);
  const base::MutexLock lock(shard.mutex);
  return enter(shard, key, hashed, mode);
}

KeyAttempt KeyTable::enter(Shard& shard, std::string_view key, std::size_t hash,
                           KeyMode mode) noexcept {
  if (shard.is_closed) {
    return {KeyOutcome::aborted, nullptr};
  }
  KeyEntry* entry = shard.entries.find(key, hash);
  if (entry == nullptr) {
    try {
      entry = &shard.entries.insert(key, hash);
    } catch (const std::bad_alloc&) {
      return {KeyOutcome::no_memory, nullptr};
    }
  } else if (!entry->admits_newcomer(mode)) {
    return {KeyOutcome::busy, entry};
  }
  entry->enter(mode);
  ++shard.stats.acquisitions;
  return {KeyOutcome::entered, entry};
}

void KeyTable::wait(KeyWaiter& waiter, std::string_view key) noexcept {
  Shard& shard = shard_of(waiter.hash);
  waiter.since = steady_clock::now();
  {
    const base::MutexLock lock(shard.mutex);
    if (waiter.state == KeyWaiter::State::starting) {
      const KeyAttempt attempt = enter(shard, key, waiter.hash, waiter.mode);
      if (attempt.outcome == KeyOutcome::busy) {
        attempt.entry->join(waiter);
        return;
      }
      waiter.entry = attempt.entry;
      waiter.outcome = attempt.outcome;
      waiter.state = KeyWaiter::State::decided;
    }
  }
  finish(waiter);
}

void KeyTable::cancel(KeyWaiter& waiter, KeyOutcome why) noexcept {
  WaiterQueue decided;
  {
    Shard& shard = shard_of(waiter.hash);
    const base::MutexLock lock(shard.mutex);
    if (waiter.state == KeyWaiter::State::decided) {
      return;
    }
    const bool was_waiting = waiter.state == KeyWaiter::State::waiting;
    give_up(shard, waiter, why);
    if (!was_waiting) {
      return;  // wait() will finish it
    }
    decided.push_back(waiter);
    admit_waiters(shard, *waiter.entry, decided);
  }
  finish_all(decided);
}

bool KeyTable::withdraw(KeyWaiter& waiter, WaiterQueue& decided) noexcept {
  Shard& shard = shard_of(waiter.hash);
  const base::MutexLock lock(shard.mutex);
  if (waiter.state != KeyWaiter::State::waiting) {
    return false;
  }
  give_up(shard, waiter, KeyOutcome::aborted);
  admit_waiters(shard, *waiter.entry, decided);
  return true;
}

void KeyTable::leave(KeyEntry& entry, KeyMode mode) noexcept {
  WaiterQueue decided;
  bool drops_reference = false;
  {
    Shard& shard = shard_of(entry.hash);
    const base::MutexLock lock(shard.mutex);
    entry.leave(mode);
    admit_waiters(shard, entry, decided);
    drops_reference = erase_if_free(shard, entry);
  }
  finish_all(decided);
  if (drops_reference) {
    drop_reference();
  }
}

void KeyTable::downgrade(KeyEntry& entry) noexcept {
  WaiterQueue decided;
  {
    Shard& shard = shard_of(entry.hash);
    const base::MutexLock lock(shard.mutex);
    entry.leave(KeyMode::exclusive);
    entry.enter(KeyMode::shared);
    admit_waiters(shard, entry, decided);
  }
  finish_all(decided);
}

void KeyTable::close() noexcept {
  for (Shard& shard : shards_) {
    WaiterQueue decided;
    {
      const base::MutexLock lock(shard.mutex);
      shard.is_closed = true;
      references_.fetch_add(shard.entries.size(), std::memory_order_relaxed);
      shard.entries.for_each([&](KeyEntry& entry) {
        while (!entry.waiting.empty()) {
          KeyWaiter& waiter = entry.waiting.pop_front();
          waiter.state = KeyWaiter::State::decided;
          waiter.outcome = KeyOutcome::aborted;
          decided.push_back(waiter);
        }
      });
    }
    finish_all(decided);
  }
  drop_reference();
}

void KeyTable::give_up(Shard& shard, KeyWaiter& waiter, KeyOutcome why) noexcept {
  if (waiter.state == KeyWaiter::State::waiting) {
    waiter.entry->waiting.erase(waiter);
  }
  waiter.state = KeyWaiter::State::decided;
  waiter.outcome = why;
  ++(why == KeyOutcome::timed_out ? shard.stats.timed_out : shard.stats.cancelled);
}

void KeyTable::admit_waiters(Shard& shard, KeyEntry& entry, WaiterQueue& decided) noexcept {
  WaiterQueue admitted;
  entry.admit_waiters(admitted);
  if (admitted.empty()) {
    return;
  }
  const auto now = steady_clock::now();
  while (!admitted.empty()) {
    KeyWaiter& waiter = admitted.pop_front();
    const std::chrono::nanoseconds waited = now - waiter.since;
    ++shard.stats.acquisitions;
    ++shard.stats.contended;
    shard.stats.wait_time += waited;
    shard.stats.longest_wait = std::max(shard.stats.longest_wait, waited);
    decided.push_back(waiter);
  }
}

void KeyTable::finish_all(WaiterQueue& decided) noexcept {
  while (!decided.empty()) {
    finish(decided.pop_front());  // the table may be destroyed with the last of them
  }
}

void KeyTable::finish(KeyWaiter& waiter) noexcept {
  if (waiter.context != nullptr) {
    waiter.context->resume(waiter);
  } else {
    waiter.resume();
  }
}

void KeyTable::drop_reference() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete this;
  }
}

bool KeyTable::erase_if_free(Shard& shard, KeyEntry& entry) noexcept {
  if (!entry.is_free()) {
    return false;
  }
  shard.entries.erase(entry);
  return shard.is_closed;
}

void KeyTable::count_cancelled(std::string_view key) noexcept {
  Shard& shard = shard_of(hash(key));
  const base::MutexLock lock(shard.mutex);
  ++shard.stats.cancelled;
}

std::size_t KeyTable::size() const {
  std::size_t size = 0;
  for (const Shard& shard : shards_) {
    const base::MutexLock lock(shard.mutex);
    size += shard.entries.size();
  }
  return size;
}

local::KeyLockStats KeyTable::stats() const {
  local::KeyLockStats sum;
  for (const Shard& shard : shards_) {
    const base::MutexLock lock(shard.mutex);
    sum.acquisitions += shard.stats.acquisitions;
    sum.contended += shard.stats.contended;
    sum.timed_out += shard.stats.timed_out;
    sum.cancelled += shard.stats.cancelled;
    sum.wait_time += shard.stats.wait_time;
    sum.longest_wait = std::max(sum.longest_wait, shard.stats.longest_wait);
  }
  return sum;
}

std::vector<local::KeyState> KeyTable::snapshot() const {
  std::vector<local::KeyState> states;
  for (const Shard& shard : shards_) {
    const base::MutexLock lock(shard.mutex);
    shard.entries.for_each([&](const KeyEntry& entry) {
      local::KeyState& state = states.emplace_back();
      state.key = entry.key;
      state.exclusive = entry.has_writer;
      state.readers = entry.readers;
      for (const KeyWaiter* waiter = entry.waiting.front(); waiter != nullptr;
           waiter = WaiterQueue::after(*waiter)) {
        ++(waiter->mode == KeyMode::exclusive ? state.waiting_exclusive : state.waiting_shared);
      }
    });
  }
  return states;
}

}  // namespace holdfast::async::internal
