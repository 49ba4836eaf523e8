#include <holdfast/locks/internal/lease_keeper.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/saturate.h>

namespace holdfast::locks::internal {

namespace {

using steps::Step;

// More go to the store in several requests, each with time enough.
constexpr std::size_t kLargestBatch = 4096;

// The number of leases that a thread visits before it lets others have the mutex.
constexpr std::size_t kMostAtOnce = 1024;

constexpr base::Duration kShortestRequest = std::chrono::milliseconds(100);
constexpr base::Duration kLongestRequest = std::chrono::seconds(1);

// Fetches a hold that comes soon into the cache: of a million, none is in it by itself.
void prefetch_after(const std::vector<Hold*>& holds, std::size_t i) {
  constexpr std::size_t kAhead = 8;
  if (i + kAhead < holds.size()) {
    const Hold& hold = *holds[i + kAhead];
    __builtin_prefetch(&hold.name);
    __builtin_prefetch(&hold.schedule);
    __builtin_prefetch(&hold.renewal_place);
  }
}

void count(const Metrics& metrics, std::string_view counter, std::size_t by) {
  if (metrics.count && by > 0) {
    metrics.count(counter, {}, by);
  }
}

}  // namespace

LeaseKeeper::LeaseKeeper(store::LeaseStore& store, const base::Clock& clock,
                         const base::Logger& logger, const Metrics& metrics, OnLost on_lost,
                         const Runtime& runtime, Keeping keeping)
    : clock_(clock),
      runtime_(runtime),
      logger_(logger),
      metrics_(metrics),
      on_lost_(std::move(on_lost)),
      keeping_(keeping),
      deadlines_(&Hold::deadline_place),
      renewals_(&Hold::renewal_place),
      expiring_(runtime.background(expirer_, store, clock)),
      renewing_(runtime.background(renewer_, store, clock)) {}

LeaseKeeper::~LeaseKeeper() { stop(); }

bool LeaseKeeper::add(const std::shared_ptr<Hold>& hold) {
  bool is_kept = false;
  bool is_first_to_expire = false;
  bool is_first_to_renew = false;
  {
    const base::MutexLock lock(mutex_);
    is_kept = !stopped_;
    if (is_kept) {
      if (keeping_ == Keeping::from_the_first_lock && !ensure_started()) {
        return false;
      }
      const base::TimePoint expiry = deadlines_.next();
      const base::TimePoint renewal = renewals_.next();
      keep(hold);
      is_first_to_expire = deadlines_.next() < expiry;
      is_first_to_renew = renewals_.next() < renewal;
    }
  }
  if (is_first_to_expire) {
    expiring_->wake();
  }
  if (is_first_to_renew) {
    renewing_->wake();
  }
  if (!is_kept) {
    hold->lose();
  }
  return true;
}

bool LeaseKeeper::start() {
  const base::MutexLock lock(mutex_);
  return ensure_started();
}

void LeaseKeeper::remove(Hold& hold) {
  const base::MutexLock lock(mutex_);
  forget(hold);
}

void LeaseKeeper::stop() {
  Holds abandoned;
  {
    const base::MutexLock lock(mutex_);
    stopped_ = true;
    std::vector<Hold*> all;
    deadlines_.take_due(base::TimePoint::max(), deadlines_.size(), all);
    abandoned.reserve(all.size());
    for (Hold* const hold : all) {
      abandoned.push_back(forget(*hold));
    }
  }
  expirer_.cancel();
  renewer_.cancel();
  expiring_->wake();
  renewing_->wake();
  // Before the threads have ended: the renewer may be blocked in the store.
  for (const auto& hold : abandoned) {
    hold->lose();
  }
  expiring_->join();
  renewing_->join();
  log_losses();
}

std::size_t LeaseKeeper::size() const {
  const base::MutexLock lock(mutex_);
  return deadlines_.size();
}

std::uint64_t LeaseKeeper::visits() const {
  const base::MutexLock lock(mutex_);
  return deadlines_.visits() + renewals_.visits();
}

bool LeaseKeeper::ensure_started() {
  if (!is_started_) {
    is_started_ = expiring_->start() && renewing_->start();
  }
  return is_started_;
}

void LeaseKeeper::keep(const std::shared_ptr<Hold>& hold) {
  const base::TimePoint now = clock_.now();
  hold->kept = hold;
  shortest_ttl_.add(hold->schedule.ttl());
  try {
    deadlines_.put(*hold, hold->schedule.valid_until(), now);
    plan_renewal(*hold, now);
  } catch (...) {
    forget(*hold);
    throw;
  }
}

std::shared_ptr<Hold> LeaseKeeper::forget(Hold& hold) noexcept {
  if (hold.kept != nullptr) {
    deadlines_.remove(hold);
    renewals_.remove(hold);
    shortest_ttl_.remove(hold.schedule.ttl());
  }
  return std::exchange(hold.kept, nullptr);
}

void LeaseKeeper::plan_renewal(Hold& hold, base::TimePoint now) {
  if (hold.schedule.renew_at() < base::TimePoint::max()) {
    renewals_.put(hold, hold.schedule.renew_at(), now);
  }
}

Step LeaseKeeper::expire_due() {
  base::TimePoint wake;
  bool is_more_due = true;
  while (is_more_due) {
    Losses lost;
    {
      const base::MutexLock lock(mutex_);
      const base::TimePoint now = clock_.now();
      lost = expire(now);
      wake = deadlines_.next();
      is_more_due = wake <= now;
    }
    fire(std::move(lost));
  }
  return Step::wait_until(wake);
}

LeaseKeeper::Losses LeaseKeeper::expire(base::TimePoint now) {
  std::vector<Hold*> due;
  deadlines_.take_due(now, kMostAtOnce, due);
  Losses lost;
  for (std::size_t i = 0; i < due.size(); ++i) {
    prefetch_after(due, i);
    Hold& hold = *due[i];
    if (hold.schedule.valid_until() <= now) {
      lost.push_back({forget(hold), Cause::not_renewed_in_time});
    } else {
      deadlines_.put(hold, hold.schedule.valid_until(), now);
    }
  }
  return lost;
}

Step LeaseKeeper::renew_due() {
  log_losses();
  base::TimePoint wake;
  {
    const base::MutexLock lock(mutex_);
    batch_ = take_batch(clock_.now());
    wake = renewals_.next();
  }
  if (batch_.holds.empty()) {
    return Step::wait_until(wake);
  }
  renewals_of_batch_.clear();
  renewals_of_batch_.reserve(batch_.holds.size());
  for (const auto& hold : batch_.holds) {
    renewals_of_batch_.push_back({.name = hold->name, .id = hold->id, .ttl = hold->schedule.ttl()});
  }
  sent_ = clock_.now();
  return {.kind = Step::Kind::renew,
          .renewals = renewals_of_batch_,
          .deadline = base::Deadline::after(runtime_.request_clock(), batch_.patience)};
}

Step LeaseKeeper::Renewer::on(steps::Answer&& answer) {
  if (const auto* const outcomes = std::get_if<Outcomes>(&answer)) {
    keeper_.on_renewed(*outcomes);
  }
  return next();
}

Step LeaseKeeper::Renewer::on_exception() {
  keeper_.on_renewed(base::fail(base::ErrorCode::internal, "the store threw an exception"));
  return next();
}

LeaseKeeper::Batch LeaseKeeper::take_batch(base::TimePoint now) {
  std::vector<Hold*> due;
  renewals_.take_due(now, kLargestBatch, due);
  Batch batch;
  batch.holds.reserve(due.size());
  // A dead connection must be found while the shortest lease can still be renewed over another. A
  // store that is only slow must answer in the end, so an attempt after a failure may take longer.
  base::Duration left = is_failing_ ? base::Duration::max() : shortest_ttl_.value();
  for (std::size_t i = 0; i < due.size(); ++i) {
    prefetch_after(due, i);
    Hold& hold = *due[i];
    batch.holds.push_back(hold.kept);
    hold.set_extending(true);
    left = std::min(left, hold.schedule.valid_until() - now);
  }
  batch.patience = std::clamp(left / 2, kShortestRequest, kLongestRequest);
  return batch;
}

void LeaseKeeper::on_renewed(const Outcomes& outcomes) {
  if (metrics_.observe) {
    metrics_.observe("renew_batch", {}, clock_.now() - sent_);
  }
  Applied applied = apply(batch_.holds, outcomes, sent_);
  batch_.holds.clear();  // a hold ends with its handle, not with the next request
  fire(std::move(applied.lost));
  count(metrics_, "renewed", applied.renewed);
  count(metrics_, "renew_failed", applied.failed);
  note_health(applied, outcomes);
}

LeaseKeeper::Applied LeaseKeeper::apply(const Holds& batch, const Outcomes& outcomes,
                                        base::TimePoint sent) {
  Applied applied;
  for (std::size_t begin = 0; begin < batch.size(); begin += kMostAtOnce) {
    const std::size_t end = std::min(batch.size(), begin + kMostAtOnce);
    const base::MutexLock lock(mutex_);
    const base::TimePoint now = clock_.now();
    for (std::size_t i = begin; i < end; ++i) {
      apply_one(batch[i], outcomes ? &(*outcomes)[i] : nullptr, sent, now, applied);
    }
  }
  return applied;
}

void LeaseKeeper::apply_one(const std::shared_ptr<Hold>& hold, const store::RenewOutcome* outcome,
                            base::TimePoint sent, base::TimePoint now, Applied& applied) {
  hold->set_extending(false);
  if (hold->kept == nullptr) {
    return;
  }
  // A lease that was over before the answer came stays lost: check() may have said so meanwhile.
  if (hold->schedule.valid_until() <= now) {
    applied.lost.push_back({forget(*hold), Cause::not_renewed_in_time});
  } else if (outcome == nullptr || *outcome == store::RenewOutcome::failed) {
    ++applied.failed;
    if (outcome != nullptr) {
      applied.refused.push_back(hold);
    }
    hold->schedule.on_failed(now);
    plan_renewal(*hold, now);
  } else if (*outcome == store::RenewOutcome::lost) {
    applied.lost.push_back({forget(*hold), Cause::taken_away});
  } else {
    ++applied.renewed;
    hold->schedule.on_renewed(sent);
    hold->publish();
    plan_renewal(*hold, now);
  }
}

void LeaseKeeper::note_health(const Applied& applied, const Outcomes& outcomes) {
  for (const auto& hold : applied.refused) {
    logger_.warn("could not renew the lease on " + base::printable(hold->name) +
                 ", will try again: the store refused its record");
  }
  if (outcomes) {
    if (std::exchange(is_failing_, false)) {
      logger_.info("leases are renewed again");
    }
    return;
  }
  last_failure_ = base::to_string(outcomes.error());
  const std::string text = "could not renew " + std::to_string(applied.failed) +
                           (applied.failed == 1 ? " lease" : " leases") +
                           ", will try again: " + last_failure_;
  // One warning for each outage, not for each attempt.
  logger_.log(std::exchange(is_failing_, true) ? base::LogLevel::debug : base::LogLevel::warning,
              text);
}

void LeaseKeeper::fire(Losses losses) {
  std::vector<std::shared_ptr<Hold>> over;  // also those that a caller has found to be lost before
  over.reserve(losses.size());
  std::erase_if(losses, [&over](const Loss& loss) {
    over.push_back(loss.hold);
    return !loss.hold->lose();
  });
  for (const auto& hold : over) {
    if (on_lost_) {
      on_lost_(hold->name);
    }
  }
  if (losses.empty()) {
    return;
  }
  if (metrics_.count) {
    for (const Loss& loss : losses) {
      metrics_.count("lost", loss.hold->name, 1);
    }
  }
  {
    const base::MutexLock lock(mutex_);
    std::ranges::move(losses, std::back_inserter(unlogged_));
  }
  renewing_->wake();
}

void LeaseKeeper::log_losses() {
  Losses losses;
  {
    const base::MutexLock lock(mutex_);
    losses.swap(unlogged_);
  }
  for (const Loss& loss : losses) {
    std::string text = "lost the lease on " + base::printable(loss.hold->name);
    if (loss.cause == Cause::taken_away) {
      text += ": it has expired at the store, or was stolen";
    } else {
      text += ": it could not be renewed in time";
      text += is_failing_ ? ": " + last_failure_ : "";
    }
    logger_.error(text);
  }
}

}  // namespace holdfast::locks::internal
