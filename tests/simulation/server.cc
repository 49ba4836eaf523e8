#include <tests/simulation/server.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include <tests/simulation/names.h>

#include <holdfast/base/saturate.h>
#include <holdfast/store/lease_rules.h>

namespace holdfast::simulation {

namespace {

namespace rules = store::lease_rules;
using base::ErrorCode;
using base::Result;
using store::Permits;
using Kind = Checker::Operation::Kind;
using namespace std::chrono_literals;

// The same that the Redis engine has (lua/give.lua, internal/queued_claims.h).
constexpr base::Duration kUnconfirmed = 2s;
constexpr base::Duration kQueueLasts = 60s;
constexpr base::Duration kEarly = 1s;
constexpr std::string_view kUnconfirmedOwner = "a waiter";
constexpr std::uint32_t kMaxPosition = store::Busy::kMaxPosition;

constexpr base::Duration kClockStart = 1'000'000'000s;

bool is_mutex(const store::Claim& claim) { return claim.permits == Permits::mutex(); }

std::uint64_t micros(base::TimePoint time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count());
}

// The process that has made an id (see SimulatedRuntime::new_id).
int process_of(const base::LeaseId& id) { return static_cast<int>(id.high() >> 48U); }

}  // namespace

Answer failure(Step::Kind kind, ErrorCode code, const char* message) {
  const auto error = base::fail(code, message);
  switch (kind) {
    case Step::Kind::claim: return Result<store::ClaimOutcome>(error);
    case Step::Kind::transfer: return Result<store::TransferOutcome>(error);
    case Step::Kind::release: return Result<store::ReleaseOutcome>(error);
    case Step::Kind::renew: return Result<std::vector<store::RenewOutcome>>(error);
    default: return {};
  }
}

Server::Server(World& world, Publish publish)
    : Actor(world.timeline),
      world_(world),
      publish_(std::move(publish)),
      clock_(world.timeline, kClockStart,
             static_cast<int>(mix(world.setting.seed, 77) % 16'001) - 8'000),
      entries_(kNames.size()) {}

store::Instant Server::now() const noexcept {
  const base::TimePoint time = clock_.now();
  return {.time = time,
          .token_floor = world_.has(Bug::token_restarts) ? std::uint64_t{1} : micros(time)};
}

Answer Server::handle(const Request& request) {
  const bool is_demoted =
      world_.has(Bug::demoted_master_is_kept) && !demoted_.empty() && request.from == 0;
  current_ = is_demoted ? &demoted_ : &entries_;
  latest_ = std::max(latest_, clock_.now());
  switch (request.kind) {
    case Step::Kind::claim: return claim(request);
    case Step::Kind::renew: return renew(request);
    case Step::Kind::transfer: return transfer(request);
    case Step::Kind::release: return release(request);
    case Step::Kind::watch: return watch(request);
    default: return {};
  }
}

Answer Server::claim(const Request& request) {
  Entry& entry = this->entry(request.name);
  store::Record& record = entry.record;
  const store::Instant now = this->now();
  const Member member{request.from, request.claim.id};
  const rules::Load before = rules::load_of(record);
  confirm(record, request.claim);
  const bool is_two_steps = world_.has(Bug::check_then_set) && is_mutex(request.claim) &&
                            find_live(request.name, request.claim.id) == nullptr;
  store::Record copy;
  if (is_two_steps) {
    copy = record;
  }
  Result<store::ClaimOutcome> outcome =
      rules::claim(is_two_steps ? copy : record, request.claim, now);
  if (outcome && std::holds_alternative<store::Grant>(*outcome)) {
    if (is_two_steps) {
      const store::StoredLease lease = copy.leases.back();
      world_.timeline.after(2ms, this,
                            [this, name = request.name, lease] { take_late(name, lease); });
    }
    if (world_.has(Bug::lease_without_an_end) && request.claim.id.low() % 8 == 0) {
      record.leases.extend(request.claim.id, now.time + 1000h);
    }
    if (request.is_queued) {
      leave_queue(entry, member);
    }
  }
  done(request.name, {.kind = Kind::claim, .id = request.claim.id});
  if (outcome && std::holds_alternative<store::Busy>(*outcome)) {
    auto& busy = std::get<store::Busy>(*outcome);
    if (world_.setting.wakes == Wakes::by_queue) {
      if (request.leaves) {
        leave_queue(entry, member);
      }
      if (request.is_queued && !request.leaves) {
        leave_queue(entry, Member{request.from});
        Member joining = member;
        if (request.is_early) {
          joining.early_until = world_.timeline.now() + kEarly;
        }
        wait_in(entry, joining);
      } else if (request.listens) {
        wait_in(entry, Member{request.from});
      }
      const auto place = std::ranges::find(entry.queue, member);
      if (place != entry.queue.end()) {
        busy.position =
            std::min(static_cast<std::uint32_t>(place - entry.queue.begin()) + 1, kMaxPosition);
      }
    }
  } else if (outcome && world_.setting.wakes == Wakes::by_queue &&
             record.leases.used() < record.capacity) {
    wake(request.name);  // there may be room for the next, too
  }
  if (world_.setting.wakes == Wakes::by_hint && rules::is_eased(before, rules::load_of(record))) {
    wake(request.name);
  }
  return outcome;
}

// A lease that a release has granted lasts for the claim's ttl from the moment at which its claim
// confirms it, even if that is less than what the release has granted.
void Server::confirm(store::Record& record, const store::Claim& claim) {
  const store::StoredLease* const lease = record.leases.find(claim.id);
  if (lease == nullptr || lease->owner != kUnconfirmedOwner || lease->expires <= clock_.now()) {
    return;
  }
  store::StoredLease confirmed = *lease;
  confirmed.owner = claim.owner;
  confirmed.expires = clock_.now() + base::Duration(1);
  record.leases.erase(claim.id);
  record.leases.insert(std::move(confirmed));
}

void Server::take_late(int name, const store::StoredLease& lease) {
  store::Record& record = entry(name).record;
  record.last_token = std::max(record.last_token, lease.token.value());
  record.leases.drop_ended(clock_.now());
  record.leases.insert(lease);
  done(name, {.kind = Kind::claim, .id = lease.id});
}

Answer Server::renew(const Request& request) {
  std::vector<store::RenewOutcome> outcomes;
  outcomes.reserve(request.renewals.size());
  for (const Request::Renewal& renewal : request.renewals) {
    outcomes.push_back(renew_one(renewal));
    done(renewal.name, {.kind = Kind::renew, .id = renewal.id});
  }
  return Result<std::vector<store::RenewOutcome>>(std::move(outcomes));
}

store::RenewOutcome Server::renew_one(const Request::Renewal& renewal) {
  store::Record& record = entry(renewal.name).record;
  const store::Instant now = this->now();
  const store::RenewOutcome outcome = rules::renew(record, renewal.id, renewal.ttl, now);
  if (outcome == store::RenewOutcome::lost && world_.has(Bug::renewal_recreates) &&
      record.capacity == 1) {
    record.leases.clear();
    record.leases.insert({.id = renewal.id,
                          .owner = "renewed",
                          .reason = "",
                          .token = base::FencingToken(record.last_token),
                          .granted = now.time,
                          .expires = now.time + renewal.ttl});
    return store::RenewOutcome::renewed;
  }
  return outcome;
}

Answer Server::transfer(const Request& request) {
  Entry& entry = this->entry(request.name);
  const rules::Load before = rules::load_of(entry.record);
  Result<store::TransferOutcome> outcome =
      rules::transfer(entry.record, request.id, request.claim, now());
  done(request.name, {.kind = Kind::transfer, .id = request.id, .to = request.claim.id});
  leave_queue(entry, Member{request.from, request.id});
  if (outcome && std::holds_alternative<store::Grant>(*outcome)) {
    leave_queue(entry, Member{request.from, request.claim.id});
    if (rules::is_eased(before, rules::load_of(entry.record))) {
      wake(request.name);
    }
  }
  return outcome;
}

Answer Server::release(const Request& request) {
  Entry& entry = this->entry(request.name);
  const store::Instant now = this->now();
  if (request.is_queued) {
    leave_queue(entry, Member{request.from, request.id});
  }
  const bool was_waiting = std::ranges::any_of(
      entry.record.waits, [&](const auto& wait) { return wait.id == request.id; });
  const bool is_counted = entry.record.capacity > 1;
  if (world_.has(Bug::release_without_compare)) {
    entry.record.leases.clear();
  }
  const store::ReleaseOutcome outcome = rules::release(entry.record, request.id, now);
  const bool was_held = outcome == store::ReleaseOutcome::released;
  if (world_.has(Bug::token_restarts) && entry.record.leases.empty()) {
    entry.record.last_token = 0;
  }
  const bool is_given =
      was_held && !is_counted && world_.setting.wakes == Wakes::by_queue && give(request.name, now);
  done(request.name, {.kind = Kind::release, .id = request.id});
  if (world_.setting.wakes == Wakes::by_queue && request.listens &&
      (was_held || was_waiting || request.is_queued)) {
    wait_in(entry, Member{request.from});
  }
  if (!is_given && (was_held || was_waiting ||
                    (request.is_queued && entry.record.leases.used() < entry.record.capacity))) {
    wake(request.name);
  }
  return Result<store::ReleaseOutcome>(outcome);
}

Answer Server::watch(const Request& request) {
  Entry& entry = this->entry(request.name);
  listening_.insert(request.from);
  if (world_.setting.wakes == Wakes::by_hint) {
    entry.watchers.insert(request.from);
    return locks::steps::Woken();
  }
  entry.record.leases.drop_ended(clock_.now());
  if (entry.record.leases.used() >= entry.record.capacity) {
    wait_in(entry, Member{request.from});
  } else {
    publish_(request.from, request.name, {});
  }
  return locks::steps::Woken();
}

void Server::drop_old_queue(Entry& entry) {
  if (clock_.now() >= entry.queue_ends) {
    entry.queue.clear();
  }
}

void Server::wait_in(Entry& entry, const Member& member) {
  drop_old_queue(entry);
  if (std::ranges::find(entry.queue, member) == entry.queue.end()) {
    // Dead members in front of it do not stay for ever.
    std::erase_if(entry.queue, [&](const Member& other) { return !is_alive(other); });
    entry.queue.push_back(member);
    entry.queue.back().since = world_.timeline.now();
  }
  entry.queue_ends = clock_.now() + kQueueLasts;
}

bool Server::is_alive(const Member& member) const {
  return listening_.contains(member.process) || world_.timeline.now() < member.early_until;
}

void Server::leave_queue(Entry& entry, const Member& member) { std::erase(entry.queue, member); }

bool Server::give(int name, const store::Instant& now) {
  Entry& entry = this->entry(name);
  drop_old_queue(entry);
  while (!entry.queue.empty()) {
    const Member first = entry.queue.front();
    if (first.claim.is_nil()) {
      return false;
    }
    entry.queue.pop_front();
    if (!is_alive(first)) {
      continue;
    }
    const auto granted = rules::claim(
        entry.record,
        {.id = first.claim, .owner = kUnconfirmedOwner, .reason = "", .ttl = kUnconfirmed}, now);
    publish_(first.process, name, {.granted = first.claim});
    return granted.has_value();
  }
  return false;
}

void Server::wake_one(int name) {
  Entry& entry = this->entry(name);
  drop_old_queue(entry);
  while (!entry.queue.empty()) {
    const Member first = entry.queue.front();
    entry.queue.pop_front();
    if (listening_.contains(first.process)) {
      publish_(first.process, name, {});
      return;
    }
  }
}

void Server::wake(int name) {
  if (world_.setting.wakes == Wakes::never) {
    return;
  }
  Entry& entry = this->entry(name);
  if (world_.setting.wakes == Wakes::by_hint) {
    for (const int process : entry.watchers) {
      publish_(process, name, {});
    }
    return;
  }
  bool is_heard = false;
  for (const store::StoredWait& wait : entry.record.waits) {
    if (listening_.contains(process_of(wait.id))) {
      publish_(process_of(wait.id), name, {});
      is_heard = true;
    }
  }
  if (!is_heard) {
    wake_one(name);
  }
}

void Server::pass_on(int name) {
  current_ = &entries_;
  if (world_.setting.wakes == Wakes::by_queue) {
    wake_one(name);
  }
}

std::vector<Checker::Lease> Server::live(int name) const {
  std::vector<Checker::Lease> leases;
  for (const store::StoredLease& lease : entries_[static_cast<std::size_t>(name)].record.leases) {
    if (lease.expires > clock_.now()) {
      leases.push_back({.id = lease.id,
                        .token = lease.token.value(),
                        .permits = lease.permits,
                        .expires = lease.expires,
                        .is_confirmed = lease.owner != kUnconfirmedOwner});
    }
  }
  return leases;
}

void Server::done(int name, const Checker::Operation& operation) {
  if (current_ != &entries_) {
    return;
  }
  const Entry& entry = this->entry(name);
  world_.checker.done(name, operation, entry.record.capacity, live(name), clock_.now());
  if (lag_) {
    catch_up();
    under_way_.push_back({world_.timeline.now() + *lag_, static_cast<std::size_t>(name), entry});
  }
}

void Server::shut_down() {
  is_up_ = false;
  listening_.clear();
}

bool Server::come_up(Keeps keeps) {
  is_up_ = true;
  if (keeps == Keeps::everything) {
    return false;
  }
  has_lost_data_ = true;
  bool is_lost = false;
  for (std::size_t name = 0; name < entries_.size(); ++name) {
    is_lost |= !live(static_cast<int>(name)).empty();
    entries_[name] = {};
    world_.checker.excuse(static_cast<int>(name), {});
    if (clock_.now() < latest_) {
      world_.checker.excuse_tokens(static_cast<int>(name));
    }
  }
  return is_lost;
}

void Server::replicate(base::Duration lag) {
  lag_ = lag;
  replica_.resize(entries_.size());
}

void Server::catch_up() {
  for (; !under_way_.empty() && under_way_.front().when <= world_.timeline.now();
       under_way_.pop_front()) {
    replica_[under_way_.front().name] = std::move(under_way_.front().entry);
  }
}

bool Server::fail_over() {
  if (world_.has(Bug::demoted_master_is_kept)) {
    demoted_ = entries_;
  }
  catch_up();
  under_way_.clear();
  has_lost_data_ = true;
  bool is_lost = false;
  for (std::size_t name = 0; name < entries_.size(); ++name) {
    is_lost |= !(replica_[name].record == entries_[name].record);
    entries_[name] = replica_[name];
    const int number = static_cast<int>(name);
    world_.checker.excuse(number, live(number));
    for (Member& member : entries_[name].queue) {
      member.since = base::TimePoint::max();  // the replica may not know that it has left the queue
    }
    if (clock_.now() < latest_) {
      world_.checker.excuse_tokens(number);
    }
  }
  listening_.clear();
  return is_lost;
}

bool Server::move_clock(base::Duration by) {
  latest_ = std::max(latest_, clock_.now());
  bool is_moved = false;
  for (std::size_t name = 0; name < entries_.size(); ++name) {
    is_moved |= !live(static_cast<int>(name)).empty();
  }
  clock_.move(by);
  for (std::size_t name = 0; name < entries_.size(); ++name) {
    const int number = static_cast<int>(name);
    world_.checker.excuse(number, live(number));
    if (has_lost_data_ && by < base::Duration::zero()) {
      world_.checker.excuse_tokens(number);
    }
  }
  return is_moved;
}

const store::StoredLease* Server::find_live(int name, const base::LeaseId& id) const {
  const store::StoredLease* const lease =
      entries_[static_cast<std::size_t>(name)].record.leases.find(id);
  return lease != nullptr && lease->expires > clock_.now() ? lease : nullptr;
}

bool Server::holds(int name, const base::LeaseId& id) const {
  const store::StoredLease* const lease = find_live(name, id);
  return lease != nullptr && lease->owner != kUnconfirmedOwner;
}

base::TimePoint Server::granted_at(int name, const base::LeaseId& id) const {
  return clock_.true_time(find_live(name, id)->granted);
}

std::optional<base::TimePoint> Server::queued_since(int name, const base::LeaseId& id) const {
  const Entry& entry = entries_[static_cast<std::size_t>(name)];
  const auto found = std::ranges::find(entry.queue, id, &Member::claim);
  const bool is_there = found != entry.queue.end() && clock_.now() < entry.queue_ends;
  return is_there ? std::optional(found->since) : std::nullopt;
}

bool Server::has_leftovers() {
  return std::ranges::any_of(entries_, [&](Entry& entry) {
    drop_old_queue(entry);
    return !entry.queue.empty() || !rules::is_tombstone(entry.record, now());
  });
}

}  // namespace holdfast::simulation
