#include <holdfast/locks/internal/wait_queues.h>

#include <algorithm>
#include <utility>

namespace holdfast::locks::internal {

using base::ErrorCode;
using base::fail;

bool WaitQueues::has_room(std::string_view name) const {
  if (waiting() < std::min(max_names_, max_per_name_)) [[likely]] {
    return true;
  }
  const base::MutexLock lock(mutex_);
  const auto queue = queues_.find(name);
  return queue == queues_.end() ? queues_.size() < max_names_
                                : queue->second.waiters.size() < max_per_name_;
}

base::Result<void> WaitQueues::join(std::string_view name, Waiter& waiter) {
  const base::MutexLock lock(mutex_);
  if (closed_) {
    return fail(ErrorCode::cancelled, "the lock provider is shutting down");
  }
  auto queue = queues_.find(name);
  if (queue == queues_.end()) {
    if (queues_.size() >= max_names_) {
      return fail(ErrorCode::limit_exceeded,
                  "callers wait for " + std::to_string(max_names_) +
                      " names already: raise ProviderOptions::max_waited_names");
    }
    queue = queues_.try_emplace(std::string(name)).first;
  }
  if (queue->second.waiters.size() >= max_per_name_) {
    return fail(ErrorCode::limit_exceeded, std::to_string(max_per_name_) +
                                               " callers wait for this name already: raise "
                                               "ProviderOptions::max_waiters_per_name");
  }
  enter(queue->second, waiter);
  return {};
}

void WaitQueues::enter(Queue& queue, Waiter& waiter) {
  std::list<Waiter*> alone(1, &waiter);
  by_claim_.emplace(waiter.claim.id, &waiter);
  waiter.place = alone.begin();
  waiter.state = queue.waiters.empty() ? Waiter::State::first : Waiter::State::behind;
  waiter.handed_over.reset();
  waiter.granted = false;
  queue.waiters.splice(queue.waiters.end(), alone);
  ++waiting_;
}

bool WaitQueues::needs_watch(std::string_view name) const {
  const base::MutexLock lock(mutex_);
  const auto queue = queues_.find(name);
  return queue != queues_.end() && queue->second.watch == nullptr;
}

bool WaitQueues::begin_claim(Waiter& waiter) {
  const base::MutexLock lock(mutex_);
  waiter.granted = false;
  return waiter.is_first();
}

bool WaitQueues::hears(std::string_view name, const Waiter& waiter) const {
  const base::MutexLock lock(mutex_);
  const auto queue = queues_.find(name);
  return waiter.is_first() && queue != queues_.end() && queue->second.watch != nullptr;
}

// The queue may have ended by now, and another may have begun: one watch is enough for it.
void WaitQueues::watch(std::string_view name, const MakeWatch& make_watch) {
  auto watch =
      make_watch([this, name = std::string(name)](const auto& notice) { on_notice(name, notice); });
  if (!watch) {
    return;
  }
  auto made = std::make_unique<store::Watch>(*std::move(watch));
  const base::MutexLock lock(mutex_);
  const auto queue = queues_.find(name);
  if (queue != queues_.end() && queue->second.watch == nullptr) {
    queue->second.watch.swap(made);
  }
}

std::unique_ptr<store::Watch> WaitQueues::remove(std::string_view name, Waiter& waiter) {
  const auto queue = queues_.find(name);
  queue->second.waiters.erase(waiter.place);
  by_claim_.erase(waiter.claim.id);
  --waiting_;
  if (!queue->second.waiters.empty()) {
    return nullptr;
  }
  auto watch = std::move(queue->second.watch);
  queues_.erase(queue);
  return watch;
}

Waiter* WaitQueues::first_in(std::string_view name) const {
  const auto queue = queues_.find(name);
  const bool is_empty = queue == queues_.end() || queue->second.waiters.empty();
  return is_empty ? nullptr : queue->second.waiters.front();
}

void WaitQueues::on_notice(std::string_view name, const store::Notice& notice) {
  const base::MutexLock lock(mutex_);
  if (!notice.granted) {
    if (Waiter* const first = first_in(name)) {
      first->waker.wake();
    }
    return;
  }
  // Not one of ours: another provider's, or its caller has left and releases it.
  if (const auto found = by_claim_.find(*notice.granted); found != by_claim_.end()) {
    found->second->granted = true;
    found->second->waker.wake();
  }
}

bool WaitQueues::leave(std::string_view name, Waiter& waiter, std::optional<Granted>& handed_over) {
  std::unique_ptr<store::Watch> ended;
  const base::MutexLock lock(mutex_);
  if (waiter.state == Waiter::State::offered) {
    return false;  // woken by `settle`: the store call behind an offer has a deadline
  }
  if (waiter.state == Waiter::State::handed_over) {
    handed_over = waiter.handed_over;
    return true;
  }
  ended = remove(name, waiter);
  if (Waiter* const next = first_in(name); next != nullptr && !next->is_first()) {
    next->state = Waiter::State::first;
    next->waker.wake();
  }
  return true;
}

Standing WaitQueues::standing(const Waiter& waiter) const {
  const base::MutexLock lock(mutex_);
  return {.first = waiter.is_first(),
          .granted = waiter.granted,
          .closed = closed_,
          .handed_over = waiter.handed_over};
}

Waiter* WaitQueues::offer(std::string_view name, const store::Permits& permits,
                          base::TimePoint now) {
  const base::MutexLock lock(mutex_);
  Waiter* const first = first_in(name);
  if (first == nullptr || first->state == Waiter::State::offered ||
      first->claim.permits != permits || now >= first->waits_until) {
    return nullptr;
  }
  first->state = Waiter::State::offered;
  return first;
}

void WaitQueues::settle(std::string_view name, Waiter& waiter,
                        const base::Result<std::optional<Granted>>& outcome) {
  std::unique_ptr<store::Watch> ended;
  const base::MutexLock lock(mutex_);
  waiter.state = Waiter::State::first;
  waiter.unsure |= !outcome.has_value();
  if (outcome && *outcome) {
    waiter.state = Waiter::State::handed_over;
    waiter.handed_over = *outcome;
    ended = remove(name, waiter);
    // Not woken: the name was just taken. What ends that hold makes the next offer, or wakes.
    if (Waiter* const next = first_in(name)) {
      next->state = Waiter::State::first;
      if (next->claim.permits.capacity > 1) {
        next->waker.wake();  // there may be room for it too
      }
    }
  }
  waiter.waker.wake();
}

void WaitQueues::wake_first(std::string_view name) {
  if (waiting() == 0) {
    return;
  }
  const base::MutexLock lock(mutex_);
  if (Waiter* const first = first_in(name)) {
    first->waker.wake();
  }
}

bool WaitQueues::has_queue(std::string_view name) const {
  if (waiting_.load(std::memory_order_relaxed) == 0) {
    return false;
  }
  const base::MutexLock lock(mutex_);
  return queues_.contains(name);
}

std::size_t WaitQueues::waiting() const { return waiting_.load(std::memory_order_relaxed); }

void WaitQueues::close() {
  const base::MutexLock lock(mutex_);
  closed_ = true;
  for (auto& [name, queue] : queues_) {
    for (Waiter* const waiter : queue.waiters) {
      waiter->waker.wake();
    }
  }
}

}  // namespace holdfast::locks::internal
