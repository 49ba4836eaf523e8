#include <holdfast/local/internal/key_table.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include <holdfast/base/error.h>
#include <holdfast/base/random.h>
#include <holdfast/local/internal/key_shard.h>

namespace holdfast::local::internal {

namespace {

using std::chrono::steady_clock;

// A newcomer that finds the key locked tries again this often before it sleeps, pausing twice as
// long each time: a few microseconds in total, about the cost of a sleep and a wake-up.
constexpr int kFirstPause = 4;
constexpr int kLongestPause = 128;
// How long a waiter that was woken in vain spins for the hand-over of the key.
constexpr int kHandOverSpins = 1000;

constexpr std::size_t kMostShards = std::size_t{1} << kMostShardBits;
// Far below the range of a counter, far beyond what memory holds.
constexpr std::size_t kMostEntries = std::size_t{1} << 40U;

unsigned checked_shard_bits(const KeyLockOptions& options) {
  if (options.shards > kMostShards || options.initial_entries > kMostEntries ||
      options.idle_entries > kMostEntries) {
    base::throw_error({base::ErrorCode::invalid_argument,
                       "KeyLockOptions: at most " + std::to_string(kMostShards) + " shards and " +
                           std::to_string(kMostEntries) + " entries"});
  }
  constexpr std::size_t kPerHardwareThread = 32;
  const std::size_t chosen =
      options.shards != 0 ? options.shards
                          : std::clamp<std::size_t>(
                                kPerHardwareThread * std::thread::hardware_concurrency(), 64, 1024);
  return static_cast<unsigned>(std::countr_zero(std::bit_ceil(chosen)));
}

[[noreturn, gnu::cold]] void throw_too_many_readers() {
  throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                          "too many readers of one key");
}

}  // namespace

KeyTable::KeyTable(const KeyLockOptions& options)
    : seed_(base::random_u64()),
      shard_bits_(checked_shard_bits(options)),
      shards_(new KeyShard[shard_count()]) {
  const auto per_shard = [this](std::size_t entries) {
    return (entries + shard_count() - 1) / shard_count();
  };
  const std::size_t initial = per_shard(options.initial_entries);
  const std::size_t idle = std::max(per_shard(options.idle_entries), initial);
  for (std::size_t i = 0; i < shard_count(); ++i) {
    shards_[i].pool.keep(idle);
    shards_[i].pool.reserve(initial);
  }
}

KeyTable::~KeyTable() = default;

KeyShard& KeyTable::shard_of(std::uint32_t hash) noexcept { return shards_[shard_index(hash)]; }

// Inlined into each of the few hot functions, with a probe that never has to be in memory: the rare
// paths get the text and make their own probe.
[[gnu::always_inline]] inline KeyEntry* KeyTable::take(KeyShard& shard, const KeyProbe& probe,
                                                       Mode mode, Afterwards& afterwards) {
  KeyEntry*& chain = shard.entries.chain(probe.tag());
  KeyEntry* entry = KeyShard::find(chain, probe);
  if (mode == Mode::exclusive && shard.bias_tag != 0) [[unlikely]] {
    entry = end_bias_towards(shard, probe.text, entry, afterwards);
  }
  if (entry == nullptr) {
    entry = shard.add(chain, probe, afterwards.trash);
  } else if (!entry->admits(mode)) {
    return nullptr;
  } else if (entry->readers() == KeyEntry::kReaders) [[unlikely]] {
    throw_too_many_readers();
  }
  entry->hold(mode);
  ++shard.acquisitions;
  if (mode == Mode::exclusive) {
    shard.note_write(probe.tag());
  } else if (shard.note_read(probe.tag()) && !entry->is_queued()) [[unlikely]] {
    bias_towards(shard, probe.text);
  }
  return entry;
}

[[gnu::always_inline]] inline KeyEntry* KeyTable::try_take(const KeyProbe& probe, Mode mode) {
  KeyShard& shard = shard_of(probe.tag());
  __builtin_prefetch(shard.resident, 1);
  Afterwards afterwards;
  const std::lock_guard guard(shard.lock);
  return take(shard, probe, mode, afterwards);
}

template <Mode mode>
KeyEntry* KeyTable::lock(std::string_view key) {
  KeyEntry* const entry = try_take(KeyProbe(key, seed_), mode);
  return entry != nullptr ? entry : wait(key, mode);
}

template KeyEntry* KeyTable::lock<Mode::exclusive>(std::string_view);
template KeyEntry* KeyTable::lock<Mode::shared>(std::string_view);

[[gnu::noinline]] KeyEntry* KeyTable::wait(std::string_view key, Mode mode) {
  return *wait(probe(key), mode, {});
}

KeyEntry* KeyTable::try_acquire(const KeyProbe& probe, Mode mode) { return try_take(probe, mode); }

std::expected<KeyEntry*, WaitEnd> KeyTable::acquire(const KeyProbe& probe, Mode mode,
                                                    const KeyWait& how) {
  if (how.stop.stop_requested()) {
    shard_of(probe.tag()).waits.cancelled();
    return std::unexpected(WaitEnd::cancelled);
  }
  KeyEntry* const entry = try_acquire(probe, mode);
  return entry != nullptr ? entry : wait(probe, mode, how);
}

std::expected<KeyEntry*, WaitEnd> KeyTable::wait(const KeyProbe& probe, Mode mode,
                                                 const KeyWait& how) {
  const SteadyTime started = steady_clock::now();
  if (spinning_helps()) {
    for (int pauses = kFirstPause; pauses <= kLongestPause; pauses *= 2) {
      for (int i = 0; i < pauses; ++i) {
        spin_pause();
      }
      const SteadyTime now = steady_clock::now();
      if (KeyEntry* const entry = try_acquire(probe, mode)) {
        shard_of(probe.tag()).waits.served(now - started);
        return entry;
      }
    }
  }
  return wait_in_line(probe, mode, how, started);
}

std::expected<KeyEntry*, WaitEnd> KeyTable::wait_in_line(const KeyProbe& probe, Mode mode,
                                                         const KeyWait& wait, SteadyTime started) {
  KeyShard& shard = shard_of(probe.tag());
  Waiter waiter;
  waiter.mode = mode;
  waiter.priority = wait.priority;
  KeyEntry* entry = nullptr;
  {
    Afterwards afterwards;
    const std::lock_guard guard(shard.lock);
    entry = take(shard, probe, mode, afterwards);
    if (entry != nullptr) {
      shard.waits.served(steady_clock::now() - started);
      return entry;
    }
    entry = shard.find(probe);
    shard.add_waiter(entry, waiter, afterwards.wakes);
  }
  const std::expected<void, WaitEnd> end = sleep_until_served(shard, entry, waiter, wait);
  if (!end) {
    return std::unexpected(end.error());
  }
  shard.waits.served(steady_clock::now() - started);
  return entry;
}

std::expected<void, WaitEnd> KeyTable::sleep_until_served(KeyShard& shard, KeyEntry* entry,
                                                          Waiter& waiter, const KeyWait& wait) {
  const std::stop_callback on_stop(wait.stop, [&waiter] {
    waiter.signal.fetch_or(Waiter::kStop, std::memory_order_release);
    futex_wake_one(&waiter.signal);
  });
  WaitDeadline until = wait.until;
  bool in_time = true;
  for (;;) {
    const std::uint32_t signal = waiter.signal.load(std::memory_order_acquire);
    if ((signal & Waiter::kGranted) != 0) {
      return {};
    }
    if ((signal & Waiter::kRetry) != 0) {
      shard.answer_retry(entry, waiter);
      for (int i = 0; i < kHandOverSpins && waiter.signal.load(std::memory_order_relaxed) == 0;
           ++i) {
        spin_pause();
      }
      continue;
    }
    const bool stopped = (signal & Waiter::kStop) != 0;
    if (stopped || !in_time) {
      if (shard.give_up(entry, waiter)) {
        stopped ? shard.waits.cancelled() : shard.waits.timed_out();
        return std::unexpected(stopped ? WaitEnd::cancelled : WaitEnd::timed_out);
      }
      until.reset();  // granted at the last moment; the signal is on its way
    }
    in_time = futex_wait(waiter.signal, signal, until);
  }
}

template <Mode mode>
void KeyTable::release(KeyEntry* entry) noexcept {
  KeyShard& shard = shard_of(entry->hash);
  Afterwards afterwards;
  const std::lock_guard guard(shard.lock);
  entry->unhold(mode);
  shard.settle(entry, afterwards);
}

template void KeyTable::release<Mode::exclusive>(KeyEntry*) noexcept;
template void KeyTable::release<Mode::shared>(KeyEntry*) noexcept;

void KeyTable::release(const KeyProbe& probe, Mode mode) noexcept {
  KeyShard& shard = shard_of(probe.tag());
  Afterwards afterwards;
  const std::lock_guard guard(shard.lock);
  KeyEntry* const entry = shard.find(probe);
  entry->unhold(mode);
  shard.settle(entry, afterwards);
}

void KeyTable::downgrade(KeyEntry* entry) noexcept {
  KeyShard& shard = shard_of(entry->hash);
  Afterwards afterwards;
  const std::lock_guard guard(shard.lock);
  entry->unhold(Mode::exclusive);
  entry->hold(Mode::shared);
  if (entry->is_queued()) {
    Waiter& first = *shard.waiters.first_for(entry);
    if (first.mode == Mode::shared) {
      shard.hand_over(entry, first, afterwards.wakes);
    }
  }
}

bool KeyTable::try_upgrade(KeyEntry* entry) {
  KeyShard& shard = shard_of(entry->hash);
  Afterwards afterwards;
  const std::lock_guard guard(shard.lock);
  if (shard.bias_tag != 0) {
    end_bias_towards(shard, entry->key(), entry, afterwards);
  }
  return entry->try_upgrade();
}

std::size_t KeyTable::size() {
  std::size_t total = 0;
  for (std::size_t i = 0; i < shard_count(); ++i) {
    KeyShard& shard = shards_[i];
    const std::lock_guard guard(shard.lock);
    total += shard.entries.size();
    if (slot_readers(shard) != 0 && shard.find(probe(shard.bias.key())) == nullptr) {
      ++total;
    }
  }
  return total;
}

KeyLockStats KeyTable::stats() {
  KeyLockStats stats;
  for (std::size_t i = 0; i < shard_count(); ++i) {
    KeyShard& shard = shards_[i];
    const std::lock_guard guard(shard.lock);
    stats.acquisitions += shard.acquisitions;
    shard.waits.add_to(stats);
  }
  stats.acquisitions += slot_uses_.load(std::memory_order_relaxed);
  for (std::size_t column = 0; column < ReaderSlots::kSlotsPerRow; ++column) {
    slots_.for_each(column, [&](const ReaderSlot& slot) {
      const std::uint64_t value = slot.load(std::memory_order_relaxed);
      stats.acquisitions += (value & kAdopted) != 0 ? 0 : value & kSlotCountMask;
    });
  }
  return stats;
}

std::vector<KeyState> KeyTable::snapshot() {
  std::vector<KeyState> states;
  for (std::size_t i = 0; i < shard_count(); ++i) {
    KeyShard& shard = shards_[i];
    const std::lock_guard guard(shard.lock);
    const std::size_t in_slots = slot_readers(shard);
    const KeyEntry* biased = nullptr;
    if (in_slots != 0) {
      biased = shard.find(probe(shard.bias.key()));
      if (biased == nullptr) {
        states.push_back({.key = shard.bias.key(), .readers = in_slots});
      }
    }
    for (std::uint32_t bucket = 0; bucket < shard.entries.bucket_count(); ++bucket) {
      for (const KeyEntry* entry = shard.entries.chain_at(bucket); entry != nullptr;
           entry = entry->next) {
        KeyState& state = states.emplace_back();
        state.key = entry->key();
        state.exclusive = entry->is_exclusive();
        state.readers = entry->readers() + (entry == biased ? in_slots : 0);
        for (const Waiter* waiter = shard.waiters.first_for(entry); waiter != nullptr;
             waiter = WaitList::next_for(*waiter)) {
          ++(waiter->mode == Mode::exclusive ? state.waiting_exclusive : state.waiting_shared);
        }
      }
    }
  }
  return states;
}

}  // namespace holdfast::local::internal
