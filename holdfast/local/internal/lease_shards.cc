#include <holdfast/local/internal/lease_shards.h>

#include <algorithm>
#include <mutex>

#include <holdfast/base/random.h>
#include <holdfast/base/saturate.h>
#include <holdfast/local/internal/futex.h>
#include <holdfast/local/internal/lease_shard.h>

namespace holdfast::local::internal {

namespace {

// Below this ttl the cheap clock's error would be noticeable.
constexpr base::Duration kPreciseBelow = std::chrono::seconds(5);
// About this many entries are visited under one hold of a shard's lock: a few microseconds.
constexpr std::uint32_t kSliceBuckets = 64;
// Pauses between two slices, so that a caller that spins for the shard gets it.
constexpr int kPausesBetweenSlices = 4;

constexpr unsigned kShardBits = 6;
constexpr std::size_t kShards = std::size_t{1} << kShardBits;

constexpr std::int64_t count(base::TimePoint time) noexcept {
  return time.time_since_epoch().count();
}

bool is_meant(std::string_view owner, const LeaseEntry& entry) noexcept {
  return owner.empty() || entry.is_owned_by(owner);
}

// Keeps the number of buckets constant while it exists; the last walker lets the table settle.
class Walker {
 public:
  explicit Walker(LeaseShard& shard) noexcept : shard_(shard) {
    const std::lock_guard guard(shard.lock);
    ++shard.walkers;
    buckets_ = shard.entries.bucket_count();
  }
  ~Walker() {
    bool settled = false;
    {
      const std::lock_guard guard(shard_.lock);
      settled = --shard_.walkers != 0;
    }
    while (!settled) {
      Trash trash;
      const std::lock_guard guard(shard_.lock);
      settled = shard_.walkers != 0 || shard_.entries.settle(trash);
    }
  }
  Walker(const Walker&) = delete;
  Walker& operator=(const Walker&) = delete;

  [[nodiscard]] std::uint32_t buckets() const noexcept { return buckets_; }

 private:
  LeaseShard& shard_;
  std::uint32_t buckets_ = 0;
};

// Calls `slice(first, last)` under the shard's lock for one range of buckets after the other, and
// unlocks in between. Visits each entry that stays in the table exactly once.
template <class Slice>
void walk(LeaseShard& shard, const std::stop_token& stop, Slice&& slice) {
  const Walker walker(shard);
  const std::uint32_t buckets = walker.buckets();
  for (std::uint32_t first = 0; first < buckets && !stop.stop_requested(); first += kSliceBuckets) {
    slice(first, std::min(buckets, first + kSliceBuckets));
    for (int i = 0; i < kPausesBetweenSlices; ++i) {
      spin_pause();
    }
  }
}

// Entries are spread over memory. The heads of the chains are prefetched one slice ahead, so they
// are loaded when their slice begins; the entries behind them are prefetched then, all together.
// Always inline: GCC treats a function that only prefetches as one without effect, and drops the
// call.
[[gnu::always_inline]] inline void prefetch(const LeaseEntry* entry) noexcept {
  if (entry != nullptr) {
    __builtin_prefetch(entry, 1);
    __builtin_prefetch(&entry->key_size, 1);  // may be on the next line
  }
}
[[gnu::always_inline]] inline void prefetch_heads(const ChainTable<LeaseEntry>& entries,
                                                  std::uint32_t first) noexcept {
  const std::uint32_t last = std::min(entries.bucket_count(), first + kSliceBuckets);
  for (std::uint32_t bucket = first; bucket < last; ++bucket) {
    prefetch(entries.chain_at(bucket));
  }
}
[[gnu::always_inline]] inline void prefetch_successors(const ChainTable<LeaseEntry>& entries,
                                                       std::uint32_t first,
                                                       std::uint32_t last) noexcept {
  for (std::uint32_t bucket = first; bucket < last; ++bucket) {
    if (const LeaseEntry* const head = entries.chain_at(bucket)) {
      prefetch(head->next);
    }
  }
  for (std::uint32_t bucket = first; bucket < last; ++bucket) {
    const LeaseEntry* const head = entries.chain_at(bucket);
    if (head != nullptr && head->next != nullptr) {
      prefetch(head->next->next);
    }
  }
}

void record_slice(SweepReport& report, std::chrono::nanoseconds took) noexcept {
  ++report.slices;
  report.longest_slice = std::max(report.longest_slice, took);
  const auto step = static_cast<std::size_t>(took / SweepReport::kStep);
  ++report.slice_times[std::min(step, report.slice_times.size() - 1)];
}

}  // namespace

LeaseShards::LeaseShards(const base::Clock& clock)
    : clock_(clock),
      steady_(dynamic_cast<const base::SteadyClock*>(&clock)),
      coarse_lag_(clock.coarse_lag()),
      seed_(base::random_u64()),
      shards_(new LeaseShard[kShards]) {}

LeaseShards::~LeaseShards() = default;

[[gnu::always_inline]] inline LeaseShard& LeaseShards::shard_of(
    const KeyProbe& probe) const noexcept {
  return shards_[shard_index(probe.tag(), kShardBits)];
}

[[gnu::always_inline]] inline base::TimePoint LeaseShards::coarse_now() const noexcept {
  return steady_ != nullptr ? steady_->coarse_now() : clock_.coarse_now();
}

bool LeaseShards::has_passed(std::int64_t expiry) const noexcept {
  const std::int64_t earliest = count(coarse_now());
  if (earliest >= expiry) {
    return true;
  }
  return expiry - earliest <= coarse_lag_.count() && count(clock_.now()) >= expiry;
}

std::int64_t LeaseShards::expiry_after(base::Ttl ttl) const noexcept {
  const base::TimePoint now = ttl.unchecked() < kPreciseBelow
                                  ? clock_.now()
                                  : base::add_saturating(coarse_now(), coarse_lag_);
  std::int64_t expiry = 0;
  if (!ttl.valid() || __builtin_add_overflow(count(now), ttl.unchecked().count(), &expiry))
      [[unlikely]] {
    return kNoExpiry;
  }
  return expiry;
}

std::uint64_t LeaseShards::try_lock(std::string_view key, std::string_view owner,
                                    std::int64_t expiry) {
  const KeyProbe probe(key, seed_);
  LeaseShard& shard = shard_of(probe);
  __builtin_prefetch(shard.resident, 1);
  Trash trash;
  const std::lock_guard guard(shard.lock);
  LeaseEntry*& chain = shard.entries.chain(probe.tag());
  LeaseEntry* entry = LeaseShard::find(chain, probe);
  if (entry == nullptr) {
    entry = shard.add(chain, probe, owner, trash);
  } else if (!has_passed(entry->expiry)) {
    return kRefused;
  } else {
    const LeaseEntry expired = *entry;
    entry->set_text(key, owner);
    expired.drop_text(trash);
  }
  entry->expiry = expiry;
  const std::uint64_t token = ++shard.last_token;
  entry->token = token;
  return token;
}

std::uint64_t LeaseShards::renew(std::string_view key, std::string_view owner,
                                 std::int64_t expiry) noexcept {
  const KeyProbe probe(key, seed_);
  LeaseShard& shard = shard_of(probe);
  const std::lock_guard guard(shard.lock);
  LeaseEntry* const entry = shard.find(probe);
  if (entry == nullptr || !entry->is_owned_by(owner) || has_passed(entry->expiry)) {
    return kRefused;
  }
  entry->expiry = std::max(entry->expiry, expiry);
  return entry->token;
}

template <class IsMeant>
[[gnu::always_inline]] inline bool LeaseShards::remove_if(std::string_view key,
                                                          const IsMeant& is_meant) noexcept {
  const KeyProbe probe(key, seed_);
  LeaseShard& shard = shard_of(probe);
  __builtin_prefetch(shard.resident, 1);
  Trash trash;
  const std::lock_guard guard(shard.lock);
  LeaseEntry* const entry = shard.find(probe);
  if (entry == nullptr || !is_meant(*entry)) {
    return false;
  }
  shard.remove(entry, trash);
  return true;
}

bool LeaseShards::unlock(std::string_view key, std::string_view owner) noexcept {
  return remove_if(key, [owner](const LeaseEntry& entry) { return is_meant(owner, entry); });
}

bool LeaseShards::unlock(std::string_view key, std::uint64_t token) noexcept {
  return remove_if(key, [token](const LeaseEntry& entry) { return entry.token == token; });
}

bool LeaseShards::is_guarded(std::string_view key, std::string_view owner) const noexcept {
  const KeyProbe probe(key, seed_);
  LeaseShard& shard = shard_of(probe);
  const std::lock_guard guard(shard.lock);
  const LeaseEntry* const entry = shard.find(probe);
  return entry != nullptr && is_meant(owner, *entry) && !has_passed(entry->expiry);
}

std::optional<base::Duration> LeaseShards::time_left(std::string_view key) const noexcept {
  const KeyProbe probe(key, seed_);
  LeaseShard& shard = shard_of(probe);
  const std::lock_guard guard(shard.lock);
  const LeaseEntry* const entry = shard.find(probe);
  if (entry == nullptr) {
    return std::nullopt;
  }
  const base::Duration left(entry->expiry - count(clock_.now()));
  return left > base::Duration::zero() ? std::optional(left) : std::nullopt;
}

std::size_t LeaseShards::size() const noexcept {
  std::size_t total = 0;
  for (std::size_t i = 0; i < kShards; ++i) {
    const std::lock_guard guard(shards_[i].lock);
    total += shards_[i].entries.size();
  }
  return total;
}

std::vector<LeaseInfo> LeaseShards::snapshot() const {
  std::vector<LeaseInfo> infos;
  for (std::size_t i = 0; i < kShards; ++i) {
    LeaseShard& shard = shards_[i];
    walk(shard, {}, [&](std::uint32_t first, std::uint32_t last) {
      const std::int64_t now = count(clock_.now());
      const std::lock_guard guard(shard.lock);
      for (std::uint32_t bucket = first; bucket < last; ++bucket) {
        for (const LeaseEntry* entry = shard.entries.chain_at(bucket); entry != nullptr;
             entry = entry->next) {
          infos.push_back({.key = std::string(entry->key()),
                           .owner = std::string(entry->owner()),
                           .token = base::FencingToken(entry->token),
                           .time_left = base::Duration(entry->expiry - now)});
        }
      }
    });
  }
  return infos;
}

SweepReport LeaseShards::sweep(const std::stop_token& stop) {
  SweepReport report;
  for (std::size_t i = 0; i < kShards && !stop.stop_requested(); ++i) {
    sweep_shard(shards_[i], stop, report);
    const std::lock_guard guard(shards_[i].lock);
    report.left += shards_[i].entries.size();
  }
  return report;
}

void LeaseShards::sweep_shard(LeaseShard& shard, const std::stop_token& stop, SweepReport& report) {
  walk(shard, stop, [&](std::uint32_t first, std::uint32_t last) {
    const std::int64_t now = count(clock_.now());
    Trash trash;
    const std::lock_guard guard(shard.lock);
    const auto began = std::chrono::steady_clock::now();
    prefetch_successors(shard.entries, first, last);
    for (std::uint32_t bucket = first; bucket < last; ++bucket) {
      shard.entries.remove_if_at(
          bucket, [now](const LeaseEntry& entry) { return entry.expiry <= now; },
          [&](LeaseEntry* entry) {
            shard.recycle(entry, trash);
            ++report.removed;
          });
    }
    prefetch_heads(shard.entries, last);
    record_slice(report, std::chrono::steady_clock::now() - began);
  });
}

}  // namespace holdfast::local::internal
