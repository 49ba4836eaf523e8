#include <holdfast/engines/memory/memory_store.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include <holdfast/base/cadence.h>
#include <holdfast/base/saturate.h>
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

// How far the wall clock is ahead of the store's; taken once, so that tokens do not go back when
// somebody sets the wall clock.
base::Duration wall_offset(const base::Clock& clock) {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return std::max(std::chrono::duration_cast<base::Duration>(wall) - clock.now().time_since_epoch(),
                  base::Duration::zero());
}

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};

using Records = std::unordered_map<std::string, Record, TextHash, std::equal_to<>>;

struct alignas(64) Shard {
  std::mutex mutex;
  Records records;
  std::uint64_t forgotten_token = 0;  // the greatest token of a record that was dropped
};

}  // namespace

class MemoryStore::Shards {
 public:
  explicit Shards(const base::Clock& clock) : clock_(clock), wall_offset_(wall_offset(clock)) {}

  // Runs `rule(record, now)` on the name's record, a new one if need be, in one step.
  template <class Rule>
  auto apply(std::string_view name, Rule&& rule) {
    Shard& shard = shard_of(name);
    const std::lock_guard guard(shard.mutex);
    const Instant now = instant(shard);
    auto found = shard.records.find(name);
    if (found == shard.records.end()) {
      found = shard.records.emplace(std::string(name), Record{}).first;
    }
    const ForgetTombstone forget(shard, found, now);
    return rule(found->second, now);
  }

  // The same, and wakes those who watch the name if it has let somebody in.
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
    Shard& shard = shard_of(name);
    const std::lock_guard guard(shard.mutex);
    const auto found = shard.records.find(name);
    if (found == shard.records.end()) {
      return absent;
    }
    const Instant now = instant(shard);
    const ForgetTombstone forget(shard, found, now);
    return rule(found->second, now);
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

  // Calls `visit(shard, now)` for one shard after the other, under its lock.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (Shard& shard : shards_) {
      const std::lock_guard guard(shard.mutex);
      visit(shard, instant(shard));
    }
  }

  // Calls `visit(shard, bucket, now)` for every bucket of every shard, under its lock: for a few of
  // them at a time, so that no other caller waits long. A record that stays is visited at least
  // once.
  template <class Visit>
  void for_each_bucket(Visit&& visit) {
    constexpr std::size_t kAtATime = 256;
    for (Shard& shard : shards_) {
      std::size_t next = 0;
      std::size_t count = 0;
      do {
        const std::lock_guard guard(shard.mutex);
        if (shard.records.bucket_count() != count) {  // at first, and when records have moved
          count = shard.records.bucket_count();
          next = 0;
        }
        const Instant now = instant(shard);
        for (const std::size_t end = std::min(count, next + kAtATime); next < end; ++next) {
          visit(shard, next, now);
        }
      } while (next < count);
    }
  }

  static void forget(Shard& shard, Records::iterator record) {
    shard.forgotten_token = std::max(shard.forgotten_token, record->second.last_token);
    shard.records.erase(record);
  }

  std::size_t sweep();
  void sweep_every(base::Duration interval);

  // Returns the names that are held, have this prefix and come after `after`, in byte order.
  std::vector<Name> names(std::string_view prefix, std::string_view after);

  [[nodiscard]] base::TimePoint now() const { return clock_.now(); }

  store::WatchList watches;
  store::Listings listings;

 private:
  class ForgetTombstone {
   public:
    ForgetTombstone(Shard& shard, Records::iterator record, const Instant& now)
        : shard_(shard), record_(record), now_(now) {}
    ~ForgetTombstone() {
      if (rules::is_tombstone(record_->second, now_)) {
        forget(shard_, record_);
      }
    }
    ForgetTombstone(const ForgetTombstone&) = delete;
    ForgetTombstone& operator=(const ForgetTombstone&) = delete;

   private:
    Shard& shard_;
    const Records::iterator record_;
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

  [[nodiscard]] Shard& shard_of(std::string_view name) {
    // The top bits: the table inside the shard uses the low ones.
    return shards_[(TextHash{}(name) >> 48U) % shards_.size()];
  }

  [[nodiscard]] Instant instant(const Shard& shard) const {
    const base::TimePoint time = clock_.now();
    return {.time = time,
            .token_floor = std::max(micros(time.time_since_epoch() + wall_offset_),
                                    shard.forgotten_token + 1)};
  }

  const base::Clock& clock_;
  const base::Duration wall_offset_;
  std::array<Shard, 64> shards_;
  std::jthread sweeper_;  // last: it uses all of the above
};

std::size_t MemoryStore::Shards::sweep() {
  std::size_t forgotten = 0;
  for_each_bucket([&](Shard& shard, std::size_t bucket, const Instant& now) {
    for (auto next = shard.records.begin(bucket); next != shard.records.end(bucket);) {
      const auto& [name, record] = *next++;
      if (rules::is_tombstone(record, now)) {
        forget(shard, shard.records.find(name));
        ++forgotten;
      }
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
  for_each_bucket([&](const Shard& shard, std::size_t bucket, const Instant& now) {
    for (auto next = shard.records.begin(bucket); next != shard.records.end(bucket); ++next) {
      const auto& [text, record] = *next;
      if (text.starts_with(prefix) && text > after && record.leases.last_expiry() > now.time) {
        found.push_back(*Name::make(text));
      }
    }
  });
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return found;
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

std::size_t MemoryStore::size() const {
  std::size_t total = 0;
  shards_->for_each([&](const Shard& shard, const Instant&) { total += shard.records.size(); });
  return total;
}

std::size_t MemoryStore::sweep_now() { return shards_->sweep(); }

Result<store::ClaimOutcome> MemoryStore::do_claim(const Name& name, const store::Claim& claim,
                                                  Deadline) {
  return shards_->apply_and_wake(name.view(), [&](Record& record, const Instant& now) {
    return rules::claim(record, claim, now);
  });
}

Result<std::vector<store::RenewOutcome>> MemoryStore::do_renew(
    std::span<const store::Renewal> renewals, Deadline) {
  std::vector<store::RenewOutcome> outcomes;
  outcomes.reserve(renewals.size());
  for (const store::Renewal& renewal : renewals) {
    outcomes.push_back(shards_->apply_if_there(
        renewal.name,
        [&](Record& record, const Instant& now) {
          return rules::renew(record, renewal.id, renewal.ttl.unchecked(), now);
        },
        store::RenewOutcome::lost));
  }
  return outcomes;
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
  while (listing->shown < listing->names.size() && page.names.size() < request.limit) {
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
