#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "apps/holdfast/cli/entries.h"
#include "apps/holdfast/cli/session.h"
#include "apps/holdfast/serve/watcher.h"

namespace holdfast::cli::serve {

namespace {

constexpr base::Duration kProbeEvery = std::chrono::seconds(2);

// Returns the names that are waited for, and their waiters.
locks::WaitListing waits_of(const Snapshot& snapshot) {
  locks::WaitListing listing;
  for (const auto& [name, entry] : snapshot.entries) {
    if (entry.state && !entry.waiters.empty()) {
      listing.names.push_back(*entry.state);
      listing.waiters.insert(listing.waiters.end(), entry.waiters.begin(), entry.waiters.end());
    }
  }
  return listing;
}

}  // namespace

Watcher::Watcher(std::shared_ptr<store::LeaseStore> store, base::Duration every,
                 std::function<void()> changed)
    : store_(std::move(store)),
      every_(every),
      changed_(std::move(changed)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

SharedSnapshot Watcher::snapshot() const {
  const std::lock_guard guard(mutex_);
  return latest_;
}

void Watcher::note_steal(const base::LeaseId& id) {
  const std::lock_guard guard(mutex_);
  chronicle_.note_steal(id);
}

void Watcher::forget_steal(const base::LeaseId& id) {
  const std::lock_guard guard(mutex_);
  chronicle_.forget_steal(id);
}

void Watcher::run(const std::stop_token& stop) {
  SharedSnapshot before = snapshot();
  while (!stop.stop_requested()) {
    auto next = std::make_shared<const Snapshot>(look(*before));
    {
      const std::lock_guard guard(mutex_);
      if (!next->down) {
        chronicle_.update(*next);
      }
      latest_ = next;
    }
    changed_();
    pause(*next, stop);
    before = std::move(next);
  }
}

// Where there are many names the pause is long: meanwhile a look at one name finds that the store
// has ended.
void Watcher::pause(const Snapshot& latest, const std::stop_token& stop) {
  constexpr std::string_view kAnyName = "holdfast/serve";
  const base::Duration whole =
      latest.down ? every_ : pause_after(latest.entries.size(), latest.took, every_);
  const base::TimePoint end = base::boot_clock().now() + whole;
  base::Duration left = whole;
  do {
    wake_.wait_for(std::min(left, std::max(every_, kProbeEvery)), stop);
    left = end - base::boot_clock().now();
  } while (left > base::Duration::zero() && !refresh_.exchange(false) && !stop.stop_requested() &&
           store_->look(kAnyName, answer_deadline()));
}

Snapshot Watcher::look(const Snapshot& before) {
  const base::TimePoint began = base::boot_clock().now();
  auto found = find_entries(*store_, {});
  const base::TimePoint ended = base::boot_clock().now();
  if (!found) {
    Snapshot same = before;
    ++same.version;
    same.down = std::move(found).error();
    return same;
  }
  Snapshot next{.version = before.version + 1, .taken = ended, .answered = true};
  next.entries.reserve(found->size());
  while (!found->empty()) {
    auto node = found->extract(found->begin());
    next.held += node.mapped().state ? 1U : 0U;
    next.waiters += node.mapped().waiters.size();
    next.entries.emplace_back(std::move(node.key()), std::move(node.mapped()));
  }
  find_deadlocks(next, began);
  next.took = base::boot_clock().now() - began;
  return next;
}

void Watcher::find_deadlocks(Snapshot& next, base::TimePoint began) {
  constexpr std::chrono::seconds kUntilSeenAgain{1};
  locks::WaitListing waits = waits_of(next);
  if (next.taken - later_.taken >= kUntilSeenAgain) {
    earlier_ = std::exchange(later_, {.listing = waits, .taken = next.taken});
  }
  if (!waits.waiters.empty()) {
    next.deadlocks = locks::deadlocks_in(earlier_.listing, waits, began - earlier_.taken);
  }
}

}  // namespace holdfast::cli::serve
