#include <algorithm>
#include <utility>

#include "apps/holdfast/serve/chronicle.h"

namespace holdfast::cli::serve {

namespace {

// The bytes of a record beside its texts: itself, its place in the tables, its allocations.
constexpr std::size_t kOverhead = 300;
// The same of a name, with its two deques, which are large when they are empty.
constexpr std::size_t kOverheadOfName = 1500;
// Steals whose end was not seen: of leases that had ended already.
constexpr std::size_t kMostSteals = 100;

std::size_t size_of(const PastHold& hold) {
  return kOverhead + hold.holder.owner.size() + hold.holder.reason.size();
}

std::size_t size_of(const PastWait& wait) {
  return kOverhead + wait.owner.size() + wait.reason.size();
}

template <class Record>
std::size_t size_of(const Record& /*record*/) {
  return 0;
}

HoldEnd end_of(LeaseEvent::Kind kind) {
  using enum LeaseEvent::Kind;
  return kind == expired ? HoldEnd::expired : kind == ended ? HoldEnd::unknown : HoldEnd::released;
}

std::uint64_t& count_of(Totals& totals, HoldEnd end) {
  switch (end) {
    case HoldEnd::expired: return totals.expired;
    case HoldEnd::stolen: return totals.stolen;
    case HoldEnd::unknown: return totals.ended;
    case HoldEnd::released: break;
  }
  return totals.released;
}

// Returns the size of the record that had to go.
template <class Record>
std::size_t push_bounded(std::deque<Record>& records, Record record, std::size_t most) {
  std::size_t less = 0;
  records.push_back(std::move(record));
  if (records.size() > most) {
    less = size_of(records.front());
    records.pop_front();
  }
  return less;
}

}  // namespace

void Chronicle::update(const Snapshot& snapshot) {
  std::vector<store::NameState> names;
  names.reserve(snapshot.entries.size());
  for (const auto& [name, entry] : snapshot.entries) {
    if (entry.state) {
      names.push_back(*entry.state);
    }
  }
  take_waits(snapshot);
  for (const LeaseEvent& event : leases_.update(snapshot.taken, names)) {
    take_event(event);
  }
  take_sample(snapshot);
  last_ = snapshot.taken;
  while (bytes_ > budget_ && !ages_.empty()) {
    forget_oldest();
  }
}

void Chronicle::note_steal(const base::LeaseId& id) { push_bounded(stolen_, id, kMostSteals); }

void Chronicle::forget_steal(const base::LeaseId& id) { std::erase(stolen_, id); }

NameHistory Chronicle::of(const std::string& name) const {
  const auto found = names_.find(name);
  return found != names_.end() ? found->second.history : NameHistory();
}

void Chronicle::take_event(const LeaseEvent& event) {
  using enum LeaseEvent::Kind;
  push_bounded(events_, event, kMostEvents);
  const base::LeaseId& id = event.holder.id;
  if (event.kind == acquired || event.kind == held) {
    totals_.acquired += event.kind == acquired ? 1 : 0;
    next_.acquired += event.kind == acquired ? 1 : 0;
    return;
  }
  PastHold hold{.holder = event.holder,
                .from = std::min(last_ - event.holder.held_for, event.when),
                .until = event.when,
                .end = std::erase(stolen_, id) > 0 ? HoldEnd::stolen : end_of(event.kind)};
  if (const auto waited = waited_.find(id); waited != waited_.end()) {
    hold.waited = waited->second;
    waited_.erase(waited);
  }
  ++next_.ended;
  next_.expired += hold.end == HoldEnd::expired ? 1 : 0;
  ++count_of(totals_, hold.end);
  remember(event.name, std::move(hold));
}

// A waiter that is no longer seen was granted its claim, which is then a lease with its id, or
// gave up. A listing looks at the holders first: a grant between its two looks is seen in the next.
void Chronicle::take_waits(const Snapshot& snapshot) {
  std::map<WaitKey, OpenWait> now;
  for (const auto& [name, entry] : snapshot.entries) {
    for (const locks::Waiter& waiter : entry.waiters) {
      now[{name, waiter.id}] = {
          .owner = waiter.owner, .reason = waiter.reason, .from = snapshot.taken - waiter.waited};
    }
  }
  for (auto& [key, wait] : waiting_) {
    if (now.contains(key)) {
      continue;
    }
    const Entry* const entry = snapshot.find(key.name);
    const store::Holder* granted = nullptr;
    if (entry != nullptr && entry->state) {
      const auto holder = std::ranges::find(entry->state->holders, key.id, &store::Holder::id);
      granted = holder != entry->state->holders.end() ? &*holder : nullptr;
    }
    if (granted == nullptr && !wait.missing_since) {
      wait.missing_since = snapshot.taken;
      now[key] = std::move(wait);
      continue;
    }
    const base::TimePoint until =
        granted != nullptr ? snapshot.taken - granted->held_for : *wait.missing_since;
    if (granted != nullptr) {
      waited_[key.id] = std::max(until - wait.from, base::Duration::zero());
    }
    remember(key.name, PastWait{.owner = std::move(wait.owner),
                                .reason = std::move(wait.reason),
                                .from = wait.from,
                                .until = std::max(until, wait.from),
                                .granted = granted != nullptr});
  }
  waiting_ = std::move(now);
}

void Chronicle::take_sample(const Snapshot& snapshot) {
  next_.held = snapshot.held;
  next_.waiters = snapshot.waiters;
  next_.took = snapshot.took;
  next_.when = snapshot.taken;
  if (samples_.empty() || snapshot.taken - samples_.back().when >= kSampleEvery) {
    push_bounded(samples_, std::exchange(next_, {}), kMostSamples);
  }
}

Chronicle::Known& Chronicle::touch(const std::string& name, std::size_t more) {
  const auto [found, is_new] = names_.try_emplace(name);
  Known& known = found->second;
  if (is_new) {
    known.age = ages_.insert(ages_.end(), name);
    more += kOverheadOfName + 2 * name.size();
  } else {
    ages_.splice(ages_.end(), ages_, known.age);
  }
  known.bytes += more;
  bytes_ += more;
  return known;
}

void Chronicle::remember(const std::string& name, PastHold hold) {
  Known& known = touch(name, size_of(hold));
  const std::size_t less = push_bounded(known.history.holds, std::move(hold), kMostPerName);
  known.bytes -= less;
  bytes_ -= less;
}

void Chronicle::remember(const std::string& name, PastWait wait) {
  Known& known = touch(name, size_of(wait));
  const std::size_t less = push_bounded(known.history.waits, std::move(wait), kMostPerName);
  known.bytes -= less;
  bytes_ -= less;
}

void Chronicle::forget_oldest() {
  const auto found = names_.find(ages_.front());
  bytes_ -= found->second.bytes;
  names_.erase(found);
  ages_.pop_front();
}

}  // namespace holdfast::cli::serve
