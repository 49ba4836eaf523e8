#include <holdfast/engines/memory/memory_store.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include <holdfast/base/cadence.h>
#include <holdfast/base/mutex.h>
#include <holdfast/base/saturate.h>
#include <holdfast/engines/memory/internal/record_table.h>
#include <holdfast/store/lease_rules.h>
#include <holdfast/store/listings.h>
#include <holdfast/store/record.h>
#include <holdfast/store/watch_list.h>

namespace holdfast::engines::memory {

namespace {

namespace rules = store::lease_rules;
using base::Deadline;
using base::LeaseId;
using base::Name;
using base::Result;
using store::Instant;
using store::Record;

std::uint64_t micros(base::Duration time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

// Returns the time by which the wall clock is ahead of the store's. It is read once, so that tokens
// do not go back when the wall clock is set back.
base::Duration wall_offset(const base::Clock& clock) {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return std::max(std::chrono::duration_cast<base::Duration>(wall) - clock.now().time_since_epoch(),
                  base::Duration::zero());
}

using internal::RecordTable;

// Returns the first eight bytes of a text as a number that compares as they do.
std::uint64_t first_bytes(std::string_view text) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof(number); ++i) {
    number = number << 8U | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
  }
  return number;
}

// Returns the names in byte order, each once. Compares the bytes after what all of them begin with,
// and reads a name itself only where these are the same.
std::vector<Name> sorted(std::vector<Name> names) {
  std::size_t common = names.empty() ? 0 : names.front().view().size();
  for (const Name& name : names) {
    const std::string_view first = names.front().view().substr(0, common);
    common =
        static_cast<std::size_t>(std::ranges::mismatch(first, name.view()).in1 - first.begin());
  }
  struct Key {
    std::uint64_t bytes;
    std::size_t place;
  };
  std::vector<Key> keys;
  keys.reserve(names.size());
  for (const Name& name : names) {
    keys.push_back({.bytes = first_bytes(name.view().substr(common)), .place = keys.size()});
  }
  std::ranges::sort(keys, [&](const Key& a, const Key& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : names[a.place] < names[b.place];
  });
  std::vector<Name> in_order;
  in_order.reserve(names.size());
  for (const Key& key : keys) {
    if (in_order.empty() || in_order.back() != names[key.place]) {
      in_order.push_back(std::move(names[key.place]));
    }
  }
  return in_order;
}

struct alignas(64) Shard {
  base::Mutex mutex;
  RecordTable records HOLDFAST_GUARDED_BY(mutex);
  // The greatest token of a record that was dropped.
  std::uint64_t forgotten_token HOLDFAST_GUARDED_BY(mutex) = 0;
};

}  // namespace

class MemoryStore::Shards {
 public:
  explicit Shards(const base::Clock& clock) : clock_(clock), wall_offset_(wall_offset(clock)) {}

  // Runs `rule(record, now)` on the name's record, a new one if need be, in one step.
  template <class Rule>
  auto apply(std::string_view name, Rule&& rule) {
    const std::uint64_t hash = RecordTable::hash_of(name);
    Shard& shard = shard_of(hash);
    const base::MutexLock lock(shard.mutex);
    const Instant now = instant(shard);
    RecordTable::Entry& entry = shard.records.find_or_add(name, hash);
    const ForgetTombstone forget(shard, entry, now);
    return rule(entry.record, now);
  }

  // Does the same, and notifies the name's watchers if a waiting claim was granted.
  template <class Rule>
  auto apply_and_wake(std::string_view name, Rule&& rule) {
    bool eased = false;
    auto outcome = apply(name, watched(rule, eased));
    if (eased) {
      watches.notify(name, {});
    }
    return outcome;
  }

  // The same if there is a record; else `absent`.
  template <class Rule, class Outcome>
  Outcome apply_if_there(std::string_view name, Rule&& rule, Outcome absent) {
    const std::uint64_t hash = RecordTable::hash_of(name);
    Shard& shard = shard_of(hash);
    const base::MutexLock lock(shard.mutex);
    RecordTable::Entry* const found = shard.records.find(name, hash);
    if (found == nullptr) {
      return absent;
    }
    const Instant now = instant(shard);
    const ForgetTombstone forget(shard, *found, now);
    return rule(found->record, now);
  }

  template <class Rule, class Outcome>
  Outcome apply_and_wake_if_there(std::string_view name, Rule&& rule, Outcome absent) {
    bool eased = false;
    auto outcome = apply_if_there(name, watched(rule, eased), std::move(absent));
    if (eased) {
      watches.notify(name, {});
    }
    return outcome;
  }

  // Renews leases, those of one shard after the other. Their cache misses overlap.
  [[nodiscard]] std::vector<store::RenewOutcome> renew(std::span<const store::Renewal> renewals);

  // Fetches the records of some names into the cache, for what is done to them soon.
  void prefetch(std::span<const Name> names) {
    std::vector<std::uint64_t> hashes;
    hashes.reserve(names.size());
    for (const Name& name : names) {
      hashes.push_back(RecordTable::hash_of(name.view()));
      Shard& shard = shard_of(hashes.back());
      const base::MutexLock lock(shard.mutex);
      shard.records.prefetch(hashes.back());
    }
    for (const std::uint64_t hash : hashes) {
      Shard& shard = shard_of(hash);
      const base::MutexLock lock(shard.mutex);
      shard.records.prefetch_entry(hash);
    }
  }

  // Returns how many names are kept.
  [[nodiscard]] std::size_t size() {
    std::size_t total = 0;
    for (Shard& shard : shards_) {
      const base::MutexLock lock(shard.mutex);
      total += shard.records.size();
    }
    return total;
  }

  // Calls `visit(shard, entry, now)` for every record of every shard, under its lock: for a few of
  // them at a time, so that no other caller waits long. A record that stays is visited at least
  // once.
  template <class Visit>
  void for_each(Visit&& visit) {
    constexpr std::size_t kAtATime = 256;
    constexpr std::size_t kAhead = 16;
    for (Shard& shard : shards_) {
      std::size_t next = 0;
      std::size_t count = 0;
      std::uint64_t moves = 0;
      do {
        const base::MutexLock lock(shard.mutex);
        count = shard.records.slots();
        if (std::exchange(moves, shard.records.moves()) != shard.records.moves()) {
          next = 0;
        }
        const Instant now = instant(shard);
        for (const std::size_t end = std::min(count, next + kAtATime); next < end; ++next) {
          shard.records.prefetch_slot(next + kAhead);
          if (RecordTable::Entry* const entry = shard.records.at(next)) {
            visit(shard, *entry, now);
          }
        }
      } while (next < count);
    }
  }

  static void forget(Shard& shard, const RecordTable::Entry& entry) HOLDFAST_REQUIRES(shard.mutex) {
    shard.forgotten_token = std::max(shard.forgotten_token, entry.record.last_token);
    shard.records.erase(entry);
  }

  std::size_t sweep();
  void sweep_every(base::Duration interval);

  // Returns the names that are held, have this prefix and come after `after`, in byte order.
  std::vector<Name> names(std::string_view prefix, std::string_view after);

  [[nodiscard]] base::TimePoint now() const { return clock_.now(); }

  store::WatchList watches;
  store::Listings listings;

 private:
  // Forgets a record at its end if nothing is left of it. The shard's mutex is held.
  class ForgetTombstone {
   public:
    ForgetTombstone(Shard& shard, const RecordTable::Entry& entry, const Instant& now)
        : shard_(shard), entry_(entry), now_(now) {}
    // Unchecked: the analysis does not know that the mutex is held for as long as this lives.
    ~ForgetTombstone() HOLDFAST_UNCHECKED {
      if (rules::is_tombstone(entry_.record, now_)) {
        forget(shard_, entry_);
      }
    }
    ForgetTombstone(const ForgetTombstone&) = delete;
    ForgetTombstone& operator=(const ForgetTombstone&) = delete;

   private:
    Shard& shard_;
    const RecordTable::Entry& entry_;
    const Instant now_;
  };

  template <class Rule>
  static auto watched(Rule& rule, bool& eased) {
    return [&rule, &eased](Record& record, const Instant& now) {
      const rules::Load before = rules::load_of(record);
      auto outcome = rule(record, now);
      eased = rules::is_eased(before, rules::load_of(record));
      return outcome;
    };
  }

  [[nodiscard]] static std::size_t index_of(std::uint64_t hash) noexcept {
    // The top bits: the table inside the shard uses the low ones.
    return (hash >> 48U) % kShards;
  }
  [[nodiscard]] Shard& shard_of(std::uint64_t hash) noexcept { return shards_[index_of(hash)]; }

  // A renewal of a batch, beside others of its shard.
  struct Sorted {
    std::uint64_t hash;
    std::uint32_t place;  // in the batch
  };
  void renew(Shard& shard, std::span<const store::Renewal> renewals, std::span<const Sorted> sorted,
             std::vector<store::RenewOutcome>& outcomes);

  [[nodiscard]] Instant instant(const Shard& shard) const HOLDFAST_REQUIRES(shard.mutex) {
    const base::TimePoint time = clock_.now();
    return {.time = time,
            .token_floor = std::max(micros(time.time_since_epoch() + wall_offset_),
                                    shard.forgotten_token + 1)};
  }

  const base::Clock& clock_;
  const base::Duration wall_offset_;
  static constexpr std::size_t kShards = 64;
  std::array<Shard, kShards> shards_;
  std::jthread sweeper_;  // last: it uses all of the above
};

std::vector<store::RenewOutcome> MemoryStore::Shards::renew(
    std::span<const store::Renewal> renewals) {
  std::vector<std::uint64_t> hashes(renewals.size());
  std::array<std::size_t, kShards + 1> ends{};  // where the renewals of a shard end, then begin
  for (std::size_t i = 0; i < renewals.size(); ++i) {
    hashes[i] = RecordTable::hash_of(renewals[i].name);
    ++ends[index_of(hashes[i])];
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<Sorted> sorted(renewals.size());
  for (std::size_t i = renewals.size(); i-- > 0;) {
    sorted[--ends[index_of(hashes[i])]] = {.hash = hashes[i],
                                           .place = static_cast<std::uint32_t>(i)};
  }
  std::vector<store::RenewOutcome> outcomes(renewals.size(), store::RenewOutcome::lost);
  for (std::size_t shard = 0; shard < kShards; ++shard) {
    constexpr std::size_t kAtATime = 64;
    for (std::size_t begin = ends[shard]; begin < ends[shard + 1]; begin += kAtATime) {
      const std::size_t count = std::min(kAtATime, ends[shard + 1] - begin);
      renew(shards_[shard], renewals, std::span(sorted).subspan(begin, count), outcomes);
    }
  }
  return outcomes;
}

// Each pass fetches what the next one needs.
void MemoryStore::Shards::renew(Shard& shard, std::span<const store::Renewal> renewals,
                                std::span<const Sorted> sorted,
                                std::vector<store::RenewOutcome>& outcomes) {
  const base::MutexLock lock(shard.mutex);
  const Instant now = instant(shard);
  for (const Sorted& each : sorted) {
    shard.records.prefetch(each.hash);
  }
  for (const Sorted& each : sorted) {
    shard.records.prefetch_entry(each.hash);
  }
  for (const Sorted& each : sorted) {
    const store::Renewal& renewal = renewals[each.place];
    RecordTable::Entry* const found = shard.records.find(renewal.name, each.hash);
    if (found != nullptr && !found->record.leases.empty()) {
      __builtin_prefetch(&found->record.leases.front());
      __builtin_prefetch(&found->record.leases.front().expires);
    }
  }
  for (const Sorted& each : sorted) {
    const store::Renewal& renewal = renewals[each.place];
    if (RecordTable::Entry* const found = shard.records.find(renewal.name, each.hash)) {
      const ForgetTombstone forget(shard, *found, now);
      outcomes[each.place] = rules::renew(found->record, renewal.id, renewal.ttl.unchecked(), now);
    }
  }
}

std::size_t MemoryStore::Shards::sweep() {
  std::size_t forgotten = 0;
  // Unchecked: for_each() holds the mutex of the shard.
  for_each([&](Shard& shard, const RecordTable::Entry& entry, const Instant& now)
               HOLDFAST_UNCHECKED {
                 if (rules::is_tombstone(entry.record, now)) {
                   forget(shard, entry);
                   ++forgotten;
                 }
               });
  return forgotten;
}

void MemoryStore::Shards::sweep_every(base::Duration interval) {
  sweeper_ = std::jthread([this, interval](const std::stop_token& stop) {
    base::TimePoint tick = base::add_saturating(clock_.now(), interval);
    while (clock_.sleep_until(tick, stop)) {
      sweep();
      tick = base::next_tick(tick, clock_.now(), interval);
    }
  });
}

std::vector<Name> MemoryStore::Shards::names(std::string_view prefix, std::string_view after) {
  std::vector<Name> found;
  for_each([&](const Shard&, const RecordTable::Entry& entry, const Instant& now) {
    if (entry.name.starts_with(prefix) && entry.name > after &&
        entry.record.leases.last_expiry() > now.time) {
      found.push_back(*Name::make(entry.name));
    }
  });
  return sorted(std::move(found));
}

MemoryStore::MemoryStore(MemoryOptions options)
    : shards_(std::make_unique<Shards>(*options.clock)) {
  if (options.sweep_every > base::Duration::zero()) {
    shards_->sweep_every(options.sweep_every);
  }
}

MemoryStore::~MemoryStore() {
  if (process_.is_inherited()) {
    // The threads that use it are not there, and may have been in the middle of something.
    static_cast<void>(shards_.release());
  }
}

store::Capabilities MemoryStore::capabilities() const {
  return {.engine = "memory",
          .durable = false,
          .push = true,
          .cross_process = false,
          .cross_machine = false,
          .immediate = true};
}

std::size_t MemoryStore::size() const { return shards_->size(); }

std::size_t MemoryStore::sweep_now() { return shards_->sweep(); }

Result<store::ClaimOutcome> MemoryStore::do_claim(const Name& name, const store::Claim& claim,
                                                  Deadline) {
  return shards_->apply_and_wake(name.view(), [&](Record& record, const Instant& now) {
    return rules::claim(record, claim, now);
  });
}

Result<std::vector<store::RenewOutcome>> MemoryStore::do_renew(
    std::span<const store::Renewal> renewals, Deadline) {
  return shards_->renew(renewals);
}

Result<store::TransferOutcome> MemoryStore::do_transfer(const Name& name, const LeaseId& from,
                                                        const store::Claim& to, Deadline) {
  return shards_->apply_and_wake_if_there(
      name.view(),
      [&](Record& record, const Instant& now) { return rules::transfer(record, from, to, now); },
      Result<store::TransferOutcome>(store::Lost{}));
}

Result<store::ReleaseOutcome> MemoryStore::do_release(const Name& name, const LeaseId& id,
                                                      Deadline) {
  return shards_->apply_and_wake_if_there(
      name.view(),
      [&](Record& record, const Instant& now) { return rules::release(record, id, now); },
      store::ReleaseOutcome::not_held);
}

Result<std::optional<store::NameState>> MemoryStore::do_look(const Name& name, Deadline) {
  return shards_->apply_if_there(
      name.view(),
      [&](const Record& record, const Instant& now) { return rules::look(name, record, now); },
      std::optional<store::NameState>());
}

Result<store::Page> MemoryStore::do_list(std::string_view prefix, const store::PageRequest& request,
                                         Deadline deadline) {
  const base::TimePoint now = shards_->now();
  auto listing = shards_->listings.take(prefix, request.after, now);
  if (!listing) {
    listing = {.prefix = std::string(prefix), .names = shards_->names(prefix, request.after)};
  }
  store::Page page;
  page.names.reserve(std::min(request.limit, listing->names.size() - listing->shown));
  while (listing->shown < listing->names.size() && page.names.size() < request.limit) {
    constexpr std::size_t kAtATime = 64;
    if (listing->shown % kAtATime == 0) {
      shards_->prefetch(std::span(listing->names)
                            .subspan(listing->shown)
                            .first(std::min(kAtATime, listing->names.size() - listing->shown)));
    }
    auto state = do_look(listing->names[listing->shown++], deadline);
    if (*state) {
      page.names.push_back(**std::move(state));
    }
  }
  if (listing->shown < listing->names.size()) {
    page.next = page.names.back().name.view();
    shards_->listings.keep(*std::move(listing), page.next, now);
  }
  return page;
}

Result<store::HitOutcome> MemoryStore::do_hit(const Name& name, const store::Hit& hit, Deadline) {
  return shards_->apply(name.view(), [&](Record& record, const Instant& now) {
    return rules::hit(record, hit, now);
  });
}

Result<store::Watch> MemoryStore::do_watch(const Name& name, store::WatchCallback callback) {
  return shards_->watches.subscribe(name.view(), std::move(callback));
}

}  // namespace holdfast::engines::memory
