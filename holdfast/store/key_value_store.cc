#include <holdfast/store/key_value_store.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/base/random.h>
#include <holdfast/base/saturate.h>
#include <holdfast/base/try.h>
#include <holdfast/store/lease_rules.h>
#include <holdfast/store/record_bytes.h>

namespace holdfast::store {

namespace {

namespace rules = lease_rules;
using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::LeaseId;
using base::Name;
using base::Result;

// A record with a token further ahead of the storage's clock was not written by Holdfast.
constexpr base::Duration kFarAhead = std::chrono::days(366);

// Returns the least token of that time.
std::uint64_t micros(base::Duration time) {
  const auto count = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1));
}

// Returns for how long the storage must keep the record.
base::Duration longest_life(const Record& record, const Instant& now, base::Duration retention) {
  base::TimePoint ends = std::max({record.leases.last_expiry(), record.window_ends, now.time});
  for (const StoredWait& wait : record.waits) ends = std::max(ends, wait.until);
  for (const StoredHits& hits : record.log) ends = std::max(ends, hits.ends);
  return base::add_saturating(ends, retention) - now.time;
}

class Store final : public KeyValueStore {
 public:
  Store(std::shared_ptr<KeyValues> values, std::shared_ptr<MessageBus> bus,
        KeyValueStoreOptions options)
      : values_(std::move(values)), bus_(std::move(bus)), options_(std::move(options)) {
    options_.capabilities.push = bus_ != nullptr;
  }

  [[nodiscard]] Capabilities capabilities() const override { return options_.capabilities; }
  Result<std::size_t> sweep(Deadline deadline) override;

 private:
  // A record as it was read, with the bytes that must still be there when it is replaced.
  struct Read {
    Record record;
    std::optional<std::string> bytes;
    Instant now;
  };

  Result<Read> read(std::string_view name, Deadline deadline);
  Result<bool> write(std::string_view name, const Read& before, Deadline deadline);
  template <class Rule>
  auto change(const Name& name, Deadline deadline, const Rule& rule)
      -> Result<decltype(rule(std::declval<Record&>(), std::declval<const Instant&>()))>;

  Result<ClaimOutcome> do_claim(const Name& name, const Claim& claim, Deadline deadline) override;
  Result<std::vector<RenewOutcome>> do_renew(std::span<const Renewal> renewals,
                                             Deadline deadline) override;
  Result<TransferOutcome> do_transfer(const Name& name, const LeaseId& from, const Claim& to,
                                      Deadline deadline) override;
  Result<ReleaseOutcome> do_release(const Name& name, const LeaseId& id,
                                    Deadline deadline) override;
  Result<std::optional<NameState>> do_look(const Name& name, Deadline deadline) override;
  Result<Page> do_list(std::string_view prefix, const PageRequest& request,
                       Deadline deadline) override;
  Result<HitOutcome> do_hit(const Name& name, const Hit& hit, Deadline deadline) override;
  Result<Watch> do_watch(const Name& name, WatchCallback callback) override;

  const std::shared_ptr<KeyValues> values_;
  const std::shared_ptr<MessageBus> bus_;
  KeyValueStoreOptions options_;
};

Result<Store::Read> Store::read(std::string_view name, Deadline deadline) {
  HOLDFAST_TRY_LET(auto bytes, values_->get(name, deadline));
  HOLDFAST_TRY_LET(const base::Duration time, values_->now(deadline));
  Read read{.record = {},
            .bytes = std::move(bytes),
            .now = {.time = base::TimePoint(time), .token_floor = micros(time)}};
  if (!read.bytes) return read;
  HOLDFAST_TRY_LET(read.record, record_of(*read.bytes));
  if (read.record.last_token > read.now.token_floor + micros(kFarAhead)) {
    return fail(ErrorCode::corrupt,
                "the token of the record is more than a year ahead of the clock");
  }
  return read;
}

Result<bool> Store::write(std::string_view name, const Read& before, Deadline deadline) {
  const std::string bytes = to_bytes(before.record);
  const base::Duration keep_for = longest_life(before.record, before.now, options_.retention);
  return before.bytes ? values_->replace_if_equal(name, *before.bytes, bytes, keep_for, deadline)
                      : values_->insert(name, bytes, keep_for, deadline);
}

// Applies the rule to the record of the name until nobody has changed it in between.
template <class Rule>
auto Store::change(const Name& name, Deadline deadline, const Rule& rule)
    -> Result<decltype(rule(std::declval<Record&>(), std::declval<const Instant&>()))> {
  for (base::Duration pause = std::chrono::microseconds(50);; pause *= 2) {
    HOLDFAST_TRY_LET(Read now, read(name.view(), deadline));
    const Record before = now.record;
    auto outcome = rule(now.record, now.now);
    if (now.record == before) return outcome;
    HOLDFAST_TRY_LET(const bool written, write(name.view(), now, deadline));
    if (written) {
      if (bus_ != nullptr && rules::is_eased(rules::load_of(before), rules::load_of(now.record))) {
        bus_->publish(name.view());
      }
      return outcome;
    }
    if (deadline.expired(base::steady_clock().now())) {
      return fail(ErrorCode::unavailable, "others changed the record until the deadline");
    }
    pause = std::min<base::Duration>(pause, std::chrono::milliseconds(5));
    std::this_thread::sleep_for(pause / 2 + pause * (base::random_u64() % 512) / 1024);
  }
}

Result<ClaimOutcome> Store::do_claim(const Name& name, const Claim& claim, Deadline deadline) {
  HOLDFAST_TRY_LET(auto outcome, change(name, deadline, [&](Record& record, const Instant& now) {
                     return rules::claim(record, claim, now);
                   }));
  return outcome;
}

Result<std::vector<RenewOutcome>> Store::do_renew(std::span<const Renewal> renewals,
                                                  Deadline deadline) {
  std::vector<RenewOutcome> outcomes;
  std::optional<base::Error> first;
  for (const Renewal& renewal : renewals) {
    HOLDFAST_TRY_LET(const Name name, Name::make(renewal.name));
    HOLDFAST_TRY_LET(const base::Duration ttl, renewal.ttl.checked());
    const auto outcome = change(name, deadline, [&](Record& record, const Instant& now) {
      return rules::renew(record, renewal.id, ttl, now);
    });
    if (!outcome && outcome.error().code != ErrorCode::corrupt) {
      return std::unexpected(outcome.error());
    }
    if (!outcome && !first) first = outcome.error();
    outcomes.push_back(outcome.value_or(RenewOutcome::failed));
  }
  const bool all_failed = std::ranges::all_of(
      outcomes, [](RenewOutcome outcome) { return outcome == RenewOutcome::failed; });
  if (first && all_failed) return std::unexpected(*std::move(first));
  return outcomes;
}

Result<TransferOutcome> Store::do_transfer(const Name& name, const LeaseId& from, const Claim& to,
                                           Deadline deadline) {
  HOLDFAST_TRY_LET(auto outcome, change(name, deadline, [&](Record& record, const Instant& now) {
                     return rules::transfer(record, from, to, now);
                   }));
  return outcome;
}

Result<ReleaseOutcome> Store::do_release(const Name& name, const LeaseId& id, Deadline deadline) {
  return change(name, deadline, [&](Record& record, const Instant& now) {
    return rules::release(record, id, now);
  });
}

Result<std::optional<NameState>> Store::do_look(const Name& name, Deadline deadline) {
  HOLDFAST_TRY_LET(const Read now, read(name.view(), deadline));
  return rules::look(name, now.record, now.now);
}

Result<Page> Store::do_list(std::string_view prefix, const PageRequest& request,
                            Deadline deadline) {
  HOLDFAST_TRY_LET(const auto keys, values_->keys(prefix, request.after, request.limit, deadline));
  Page page;
  for (const std::string& key : keys) {
    HOLDFAST_TRY_LET(const Name name, Name::make(key));
    HOLDFAST_TRY_LET(auto state, do_look(name, deadline));
    if (state) page.names.push_back(*std::move(state));
  }
  if (keys.size() == request.limit) page.next = keys.back();
  return page;
}

Result<HitOutcome> Store::do_hit(const Name& name, const Hit& hit, Deadline deadline) {
  HOLDFAST_TRY_LET(auto outcome, change(name, deadline, [&](Record& record, const Instant& now) {
                     return rules::hit(record, hit, now);
                   }));
  return outcome;
}

Result<Watch> Store::do_watch(const Name& name, WatchCallback callback) {
  if (bus_ == nullptr) return Watch();
  return bus_->subscribe(name.view(), [callback = std::move(callback)] { callback({}); });
}

Result<std::size_t> Store::sweep(Deadline deadline) {
  constexpr std::size_t kAtATime = 100;
  std::size_t removed = 0;
  std::string after;
  for (;;) {
    HOLDFAST_TRY_LET(const auto keys, values_->keys("", after, kAtATime, deadline));
    for (const std::string& key : keys) {
      HOLDFAST_TRY_LET(const Read now, read(key, deadline));
      // Later tokens are greater all the same: the clock has passed this one by the retention.
      const bool may_go = now.bytes && rules::is_tombstone(now.record, now.now) &&
                          now.record.last_token + micros(options_.retention) < now.now.token_floor;
      if (!may_go) continue;
      HOLDFAST_TRY_LET(const bool gone, values_->remove_if_equal(key, *now.bytes, deadline));
      removed += gone ? 1 : 0;
    }
    if (keys.size() < kAtATime) return removed;
    after = keys.back();
  }
}

}  // namespace

std::shared_ptr<KeyValueStore> make_key_value_store(std::shared_ptr<KeyValues> values,
                                                    std::shared_ptr<MessageBus> bus,
                                                    KeyValueStoreOptions options) {
  if (values == nullptr) {
    base::throw_error({ErrorCode::invalid_argument, "make_key_value_store: the storage is null"});
  }
  if (options.retention <= base::Duration::zero()) {
    base::throw_error(
        {ErrorCode::invalid_argument, "KeyValueStoreOptions: retention is not positive"});
  }
  return std::make_shared<Store>(std::move(values), std::move(bus), std::move(options));
}

}  // namespace holdfast::store
