#include <holdfast/local/internal/key_table.h>

#include <algorithm>
#include <bit>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <utility>

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
// The spins of a waiter that was woken in vain, for the hand-over of the key.
constexpr int kHandOverSpins = 1000;

constexpr std::size_t kMostShards = std::size_t{1} << kMostShardBits;
// Far below the range of a counter, far beyond what memory holds.
constexpr std::size_t kMostEntries = std::size_t{1} << 40U;

unsigned checked_shard_bits(const KeyLockOptions& options, unsigned hardware_threads) {
  if (options.shards > kMostShards || options.initial_entries > kMostEntries ||
      options.idle_entries > kMostEntries) {
    base::throw_error({base::ErrorCode::invalid_argument,
                       "KeyLockOptions: at most " + std::to_string(kMostShards) + " shards and " +
                           std::to_string(kMostEntries) + " entries"});
  }
  constexpr std::size_t kPerHardwareThread = 32;
  const std::size_t chosen =
      options.shards != 0
          ? options.shards
          : std::clamp<std::size_t>(kPerHardwareThread * hardware_threads, 64, 1024);
  return static_cast<unsigned>(std::countr_zero(std::bit_ceil(chosen)));
}

[[noreturn, gnu::cold]] void throw_too_many_readers() {
  throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                          "too many readers of one key");
}

}  // namespace

// Holds the locks of all cells of a shard and of the rest, to read the shard at one moment.
class WholeShard {
 public:
  WholeShard(KeyTable& table, std::size_t index) noexcept : shard_(table.shards_[index]) {
    if (shard_.first_cell.lock.lock_unless_closed()) {
      cells_ = {&shard_.first_cell, 1};
      return;
    }
    cells_ = {table.cells_[index].load(std::memory_order_acquire), table.cells_of_wide_shard()};
    for (KeyCell& cell : cells_) {
      cell.lock.lock();
    }
    shard_.rest_lock.lock();
  }
  ~WholeShard() {
    if (cells_.size() > 1) {
      shard_.rest_lock.unlock();
    }
    for (KeyCell& cell : cells_) {
      cell.lock.unlock();
    }
  }
  WholeShard(const WholeShard&) = delete;
  WholeShard& operator=(const WholeShard&) = delete;

  [[nodiscard]] KeyShard& shard() const noexcept { return shard_; }
  [[nodiscard]] std::span<const KeyCell> cells() const noexcept { return cells_; }

  template <class Visit>
  void for_each_entry(Visit&& visit) const {
    for (const KeyCell& cell : cells_) {
      if (cell.resident.state != 0) {
        visit(cell.resident);
      }
    }
    for (std::uint32_t bucket = 0; bucket < shard_.entries.bucket_count(); ++bucket) {
      for (const KeyEntry* entry = shard_.entries.chain_at(bucket); entry != nullptr;
           entry = entry->next) {
        visit(*entry);
      }
    }
  }

 private:
  KeyShard& shard_;
  std::span<KeyCell> cells_;
};

KeyTable::KeyTable(const KeyLockOptions& options, unsigned hardware_threads)
    : seed_(base::random_u64()),
      shard_bits_(checked_shard_bits(options, hardware_threads)),
      may_widen_(options.shards == 0),
      cell_mask_(may_widen_ ? (KeyShard::kMostCells >> shard_bits_) - 1 : 0),
      shards_(new KeyShard[shard_count()]),
      cells_(std::make_unique<std::atomic<KeyCell*>[]>(shard_count())) {
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

KeyTable::~KeyTable() {
  for (std::size_t i = 0; i < shard_count(); ++i) {
    delete[] cells_[i].load(std::memory_order_relaxed);
  }
}

KeyShard& KeyTable::shard_of(std::uint32_t hash) noexcept { return shards_[shard_index(hash)]; }

std::size_t KeyTable::cell_index(std::uint32_t hash) const noexcept {
  return (hash >> (32U - KeyShard::kMostCellBits)) & cell_mask_;
}

[[gnu::always_inline]] inline KeyCell& KeyTable::lock_cell_inline(std::uint32_t hash) noexcept {
  const std::size_t index = shard_index(hash);
  for (;;) {
    KeyCell* const cells = cells_[index].load(std::memory_order_acquire);
    KeyCell& cell = cells == nullptr ? shards_[index].first_cell : cells[cell_index(hash)];
    if (cell.lock.lock_unless_closed()) [[likely]] {
      return cell;
    }
  }
}

KeyCell& KeyTable::lock_cell(std::uint32_t hash) noexcept { return lock_cell_inline(hash); }

// Inlined into each of the few hot functions, with a probe that never has to be in memory: the rare
// paths get a copy.
[[gnu::always_inline]] inline KeyEntry* KeyTable::take(CellGuard& guard, const KeyProbe& probe,
                                                       Mode mode, Afterwards& afterwards) {
  KeyCell& cell = guard.cell();
  KeyEntry* entry = &cell.resident;
  const bool may_end_bias = mode == Mode::exclusive && cell.may_be_biased;
  if (cell.is_empty() && !may_end_bias) [[likely]] {
    KeyShard::fill(*entry, probe, KeyShard::first_word(probe));
    entry->hold(mode);
  } else {
    if (may_end_bias || cell.find_resident(probe) == nullptr) {
      entry = find_or_add(cell, probe, mode, afterwards);
    }
    if (!entry->admits(mode)) {
      return nullptr;
    }
    if (mode == Mode::shared && entry->readers() == KeyEntry::kReaders) [[unlikely]] {
      throw_too_many_readers();
    }
    entry->hold(mode);
  }
  if (mode == Mode::exclusive) {
    cell.note_write(probe.tag());
  } else if (cell.note_read(probe.tag()) && !entry->is_queued()) [[unlikely]] {
    bias_towards(cell, probe.text);
  }
  if (++cell.acquisitions % KeyShard::kSampleEvery == 0) [[unlikely]] {
    sample(guard, probe.tag());
  }
  return entry;
}

[[gnu::noinline]] KeyEntry* KeyTable::find_or_add(KeyCell& cell, KeyProbe probe, Mode mode,
                                                  Afterwards& afterwards) {
  KeyShard& shard = shard_of(probe.tag());
  const RestGuard rest(shard, cell);
  KeyEntry* entry = shard.find(cell, probe);
  if (mode == Mode::exclusive && cell.may_be_biased) {
    entry = end_bias_towards(cell, probe, entry, afterwards);
  }
  return entry != nullptr ? entry : shard.add(cell, probe, afterwards.trash);
}

KeyEntry* KeyTable::find_held(KeyCell& cell, const KeyProbe& probe) noexcept {
  KeyShard& shard = shard_of(probe.tag());
  const RestGuard rest(shard, cell);
  return shard.find(cell, probe);
}

[[gnu::noinline]] void KeyTable::sample(CellGuard& guard, std::uint32_t hash) noexcept {
  const std::size_t index = shard_index(hash);
  KeyShard& shard = shards_[index];
  if (may_widen_ && &guard.cell() == &shard.first_cell &&
      shard.sample(ReaderSlots::thread_row(), hash)) {
    widen(shard, index, guard);
  }
}

void KeyTable::widen(KeyShard& shard, std::size_t index, CellGuard& guard) noexcept {
  KeyCell* const cells = new (std::nothrow) KeyCell[cells_of_wide_shard()];
  if (cells == nullptr) {
    return;
  }
  const auto cell_of = [&](std::uint32_t hash) -> KeyCell& { return cells[cell_index(hash)]; };
  shard.move_to(cells, cell_of);
  if (shard.bias_tag != 0) {
    KeyCell& biased = cell_of(probe(shard.bias.key()).tag());
    biased.may_be_biased = true;
    shard.biased_cell = &biased;
  }
  cells_[index].store(cells, std::memory_order_release);
  guard.close();
}

[[gnu::always_inline]] inline KeyEntry* KeyTable::try_take(const KeyProbe& probe, Mode mode) {
  Afterwards afterwards;
  CellGuard guard(lock_cell_inline(probe.tag()));
  return take(guard, probe, mode, afterwards);
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
  waiter.since = started;
  KeyEntry* entry = nullptr;
  {
    Afterwards afterwards;
    CellGuard guard(lock_cell(probe.tag()));
    entry = take(guard, probe, mode, afterwards);
    if (entry != nullptr) {
      shard.waits.served(steady_clock::now() - started);
      return entry;
    }
    entry = find_held(guard.cell(), probe);
    shard.add_waiter(guard.cell(), entry, waiter, afterwards.wakes);
  }
  const std::expected<void, WaitEnd> end = sleep_until_served(entry, waiter, wait);
  if (!end) {
    end.error() == WaitEnd::cancelled ? shard.waits.cancelled() : shard.waits.timed_out();
    return std::unexpected(end.error());
  }
  shard.waits.served(steady_clock::now() - started);
  return entry;
}

std::expected<void, WaitEnd> KeyTable::sleep_until_served(KeyEntry* entry, Waiter& waiter,
                                                          const KeyWait& wait) {
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
      answer_retry(entry, waiter);
      for (int i = 0; i < kHandOverSpins && waiter.signal.load(std::memory_order_relaxed) == 0;
           ++i) {
        spin_pause();
      }
      continue;
    }
    const bool stopped = (signal & Waiter::kStop) != 0;
    if (stopped || !in_time) {
      if (give_up(entry, waiter)) {
        return std::unexpected(stopped ? WaitEnd::cancelled : WaitEnd::timed_out);
      }
      until.reset();  // granted at the last moment; the signal is on its way
    }
    in_time = futex_wait(waiter.signal, signal, until);
  }
}

void KeyTable::answer_retry(KeyEntry* entry, Waiter& waiter) noexcept {
  Afterwards afterwards;
  const CellGuard guard(lock_cell(entry->hash));
  shard_of(entry->hash).answer_retry(guard.cell(), entry, waiter, afterwards.wakes);
}

bool KeyTable::give_up(KeyEntry* entry, Waiter& waiter) noexcept {
  Afterwards afterwards;
  const CellGuard guard(lock_cell(entry->hash));
  return shard_of(entry->hash).give_up(guard.cell(), entry, waiter, afterwards);
}

template <Mode mode>
void KeyTable::release(KeyEntry* entry) noexcept {
  const std::uint32_t hash = entry->hash;
  Afterwards afterwards;
  const CellGuard guard(lock_cell_inline(hash));
  entry->unhold(mode);
  shard_of(hash).settle(guard.cell(), entry, afterwards);
}

template void KeyTable::release<Mode::exclusive>(KeyEntry*) noexcept;
template void KeyTable::release<Mode::shared>(KeyEntry*) noexcept;

void KeyTable::release(const KeyProbe& probe, Mode mode) noexcept {
  Afterwards afterwards;
  const CellGuard guard(lock_cell(probe.tag()));
  KeyEntry* const entry = find_held(guard.cell(), probe);
  entry->unhold(mode);
  shard_of(probe.tag()).settle(guard.cell(), entry, afterwards);
}

void KeyTable::downgrade(KeyEntry* entry) noexcept {
  Afterwards afterwards;
  const CellGuard guard(lock_cell(entry->hash));
  shard_of(entry->hash).downgrade(guard.cell(), entry, afterwards.wakes);
}

bool KeyTable::try_upgrade(KeyEntry* entry) {
  Afterwards afterwards;
  const CellGuard guard(lock_cell(entry->hash));
  KeyCell& cell = guard.cell();
  if (cell.may_be_biased) {
    const RestGuard rest(shard_of(entry->hash), cell);
    end_bias_towards(cell, probe(entry->key()), entry, afterwards);
  }
  return entry->try_upgrade();
}

std::size_t KeyTable::size() {
  std::size_t total = 0;
  for (std::size_t i = 0; i < shard_count(); ++i) {
    const WholeShard whole(*this, i);
    const KeyShard& shard = whole.shard();
    const bool has_slot_readers = slot_readers(shard) != 0;
    const std::string biased = has_slot_readers ? shard.bias.key() : std::string();
    bool counts_biased = false;
    whole.for_each_entry([&](const KeyEntry& entry) {
      ++total;
      counts_biased = counts_biased || (has_slot_readers && entry.key() == biased);
    });
    total += has_slot_readers && !counts_biased ? 1U : 0U;
  }
  return total;
}

std::size_t KeyTable::cell_count() const noexcept {
  std::size_t total = 0;
  for (std::size_t i = 0; i < shard_count(); ++i) {
    total += cells_[i].load(std::memory_order_relaxed) == nullptr ? 1 : cells_of_wide_shard();
  }
  return total;
}

KeyLockStats KeyTable::stats() {
  KeyLockStats stats;
  for (std::size_t i = 0; i < shard_count(); ++i) {
    const WholeShard whole(*this, i);
    for (const KeyCell& cell : whole.cells()) {
      stats.acquisitions += cell.acquisitions;
    }
    whole.shard().waits.add_to(stats);
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
    const WholeShard whole(*this, i);
    const KeyShard& shard = whole.shard();
    const std::size_t first = states.size();
    whole.for_each_entry([&](const KeyEntry& entry) {
      KeyState& state = states.emplace_back();
      state.key = entry.key();
      state.exclusive = entry.is_exclusive();
      state.readers = entry.readers();
      if (!entry.is_queued()) {
        return;
      }
      for (const Waiter* waiter = shard.waiters.first_for(&entry); waiter != nullptr;
           waiter = WaitList::next_for(*waiter)) {
        ++(waiter->mode == Mode::exclusive ? state.waiting_exclusive : state.waiting_shared);
      }
    });
    if (const std::size_t in_slots = slot_readers(shard); in_slots != 0) {
      const std::string biased = shard.bias.key();
      const auto found =
          std::find_if(states.begin() + static_cast<std::ptrdiff_t>(first), states.end(),
                       [&](const KeyState& state) { return state.key == biased; });
      KeyState& state = found != states.end() ? *found : states.emplace_back();
      state.key = biased;
      state.readers += in_slots;
    }
  }
  return states;
}

}  // namespace holdfast::local::internal
