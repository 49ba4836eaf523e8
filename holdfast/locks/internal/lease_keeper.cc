#include <holdfast/locks/internal/lease_keeper.h>

#include <algorithm>
#include <string>
#include <system_error>

#include <holdfast/base/printable.h>
#include <holdfast/base/saturate.h>

namespace holdfast::locks::internal {

namespace {

// A lease may be added while a request is under way: its end is noticed no later than this.
constexpr base::Duration kLongestRequest = std::chrono::seconds(1);

// More go to the store in several requests, each with time enough.
constexpr std::size_t kLargestBatch = 4096;

void count(const Metrics& metrics, std::string_view counter, std::size_t by) {
  if (metrics.count && by > 0) {
    metrics.count(counter, by);
  }
}

}  // namespace

LeaseKeeper::LeaseKeeper(store::LeaseStore& store, const base::Clock& clock,
                         const base::Logger& logger, const Metrics& metrics)
    : store_(store), clock_(clock), logger_(logger), metrics_(metrics) {}

LeaseKeeper::~LeaseKeeper() { stop(); }

bool LeaseKeeper::add(const std::shared_ptr<Hold>& hold) {
  bool is_next = false;
  bool is_late = false;
  {
    const std::lock_guard guard(mutex_);
    is_late = stopped_;
    if (!is_late) {
      if (!ensure_thread()) {
        return false;
      }
      hold->place = holds_.size();
      holds_.push_back(hold);
      const base::TimePoint due = std::min(hold->schedule.renew_at(), hold->schedule.valid_until());
      is_next = due < next_;
      next_ = std::min(next_, due);
    }
  }
  if (is_next) {
    bell_.ring();
  }
  if (is_late) {
    hold->lose();
  }
  return true;
}

bool LeaseKeeper::ensure_thread() {
  if (thread_.joinable()) {
    return true;
  }
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void LeaseKeeper::erase(Hold& hold) {
  holds_[hold.place].swap(holds_.back());
  holds_[hold.place]->place = hold.place;
  holds_.pop_back();
}

bool LeaseKeeper::keeps(const Hold& hold) const noexcept {
  return hold.place < holds_.size() && holds_[hold.place].get() == &hold;
}

void LeaseKeeper::remove(Hold& hold) {
  const std::lock_guard guard(mutex_);
  if (keeps(hold)) {
    erase(hold);
  }
}

void LeaseKeeper::remove_when_whole(Hold& hold) {
  const std::lock_guard guard(mutex_);
  if (keeps(hold) && hold.schedule.is_whole()) {
    erase(hold);
  }
}

void LeaseKeeper::stop() {
  Holds abandoned;
  std::jthread thread;
  {
    const std::lock_guard guard(mutex_);
    stopped_ = true;
    abandoned.swap(holds_);
    thread = std::move(thread_);
  }
  thread.request_stop();
  bell_.ring();
  thread = {};
  for (const auto& hold : abandoned) {
    hold->lose();
  }
}

std::size_t LeaseKeeper::size() const {
  const std::lock_guard guard(mutex_);
  return holds_.size();
}

void LeaseKeeper::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Holds lost;
    Holds batch;
    base::TimePoint wake = base::TimePoint::max();
    {
      const std::lock_guard guard(mutex_);
      // What is gone before it is due leaves the time behind: the next one need not ring.
      if (const base::TimePoint now = clock_.now(); next_ <= now) {
        batch = collect(now, lost);
      }
      wake = next_;
    }
    report_lost(lost);
    if (!batch.empty()) {
      renew(batch);
    } else {
      bell_.wait_until(clock_, wake);
    }
  }
}

LeaseKeeper::Holds LeaseKeeper::collect(base::TimePoint now, Holds& lost) {
  next_ = base::TimePoint::max();
  for (std::size_t i = 0; i < holds_.size();) {
    Hold& hold = *holds_[i];
    if (hold.schedule.valid_until() <= now) {
      lost.push_back(holds_[i]);
      erase(hold);
      continue;
    }
    next_ = std::min({next_, hold.schedule.renew_at(), hold.schedule.valid_until()});
    ++i;
  }
  Holds batch;
  if (next_ > now) {
    return batch;
  }
  for (const auto& hold : holds_) {
    // What is due soon goes along: many leases taken one by one then become one batch.
    const base::Duration soon = hold->schedule.ttl() / 16;
    if (hold->schedule.renew_at() <= base::add_saturating(now, soon) &&
        batch.size() < kLargestBatch) {
      batch.push_back(hold);
    }
  }
  return batch;
}

void LeaseKeeper::renew(const Holds& batch) {
  std::vector<store::Renewal> renewals;
  renewals.reserve(batch.size());
  for (const auto& hold : batch) {
    renewals.push_back({.name = hold->name, .id = hold->id, .ttl = hold->schedule.ttl()});
  }
  base::Duration patience = kLongestRequest;
  {
    const std::lock_guard guard(mutex_);
    const base::TimePoint now = clock_.now();
    for (const auto& hold : holds_) {
      patience = std::min(patience, hold->schedule.valid_until() - now);
    }
  }
  const base::TimePoint sent = clock_.now();
  const auto outcomes =
      store_.renew(renewals, base::Deadline::after(base::steady_clock(), patience));
  if (metrics_.observe) {
    metrics_.observe("renew_batch", clock_.now() - sent);
  }
  Holds lost;
  std::size_t renewed = 0;
  {
    const std::lock_guard guard(mutex_);
    renewed = apply(batch, outcomes, sent, lost);
  }
  // Not under the mutex: what the user is told may ask the provider something.
  count(metrics_, "renewed", renewed);
  if (outcomes) {
    report_failed(batch, *outcomes);
  }
  if (!outcomes) {
    count(metrics_, "renew_failed", batch.size());
    logger_.warn("could not renew " + std::to_string(batch.size()) +
                 " leases, will try again: " + base::to_string(outcomes.error()));
  }
  report_lost(lost);
}

std::size_t LeaseKeeper::apply(const Holds& batch,
                               const base::Result<std::vector<store::RenewOutcome>>& outcomes,
                               base::TimePoint sent, Holds& lost) {
  const base::TimePoint now = clock_.now();
  std::size_t renewed = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Hold& hold = *batch[i];
    if (!keeps(hold)) {
      continue;
    }
    // What was over before the answer came stays so: who checked meanwhile was told.
    const bool is_over = hold.schedule.valid_until() <= now;
    if (is_over || (outcomes && (*outcomes)[i] == store::RenewOutcome::lost)) {
      lost.push_back(batch[i]);
      erase(hold);
    } else if (outcomes && (*outcomes)[i] == store::RenewOutcome::renewed) {
      hold.schedule.on_renewed(sent);
      hold.publish();
      ++renewed;
      if (hold.status() == Hold::Status::ended) {
        erase(hold);
      }
    } else {
      hold.schedule.on_failed(now);
    }
  }
  return renewed;
}

void LeaseKeeper::report_failed(const Holds& batch,
                                const std::vector<store::RenewOutcome>& outcomes) const {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (outcomes[i] == store::RenewOutcome::failed) {
      count(metrics_, "renew_failed", 1);
      logger_.warn("could not renew the lease on " + base::printable(batch[i]->name) +
                   ", will try again: the store refused its record");
    }
  }
}

void LeaseKeeper::report_lost(const Holds& lost) const {
  for (const auto& hold : lost) {
    if (hold->lose()) {
      count(metrics_, "lost", 1);
      logger_.error("lost the lease on " + base::printable(hold->name) +
                    ": it was taken away or could not be renewed in time");
    }
  }
}

}  // namespace holdfast::locks::internal
