#include <holdfast/locks/internal/wait_lines.h>

#include <algorithm>

namespace holdfast::locks::internal {

using base::ErrorCode;
using base::fail;

base::Result<void> WaitLines::join(std::string_view name, Waiter& waiter) {
  const std::lock_guard guard(mutex_);
  if (closed_) {
    return fail(ErrorCode::cancelled, "the lock provider is shutting down");
  }
  auto line = lines_.find(name);
  if (line == lines_.end()) {
    if (lines_.size() >= max_names_) {
      return fail(ErrorCode::limit_exceeded,
                  "callers wait for " + std::to_string(max_names_) +
                      " names already: raise ProviderOptions::max_waited_names");
    }
    lines_.emplace(std::string(name), Line{&waiter});
    waiter.first = true;
    ++waiting_;
    return {};
  }
  if (line->second.size() >= max_per_name_) {
    return fail(ErrorCode::limit_exceeded, std::to_string(max_per_name_) +
                                               " callers wait for this name already: raise "
                                               "ProviderOptions::max_waiters_per_name");
  }
  line->second.push_back(&waiter);
  ++waiting_;
  return {};
}

std::optional<HandedOver> WaitLines::leave(std::string_view name, Waiter& waiter) {
  for (;;) {
    {
      const std::lock_guard guard(mutex_);
      if (!waiter.offered) {
        if (waiter.handed_over) {
          return waiter.handed_over;  // out of the line already
        }
        const auto line = lines_.find(name);
        line->second.remove(&waiter);
        --waiting_;
        if (line->second.empty()) {
          lines_.erase(line);
        } else if (Waiter* const next = line->second.front(); !next->first) {
          next->first = true;
          next->bell.ring();
        }
        return std::nullopt;
      }
    }
    // Rung by `settle`: the store call behind an offer has a deadline.
    waiter.bell.wait_until(base::steady_clock(), base::TimePoint::max());
  }
}

std::optional<HandedOver> WaitLines::taken_over(const Waiter& waiter) const {
  const std::lock_guard guard(mutex_);
  return waiter.offered ? std::nullopt : waiter.handed_over;
}

bool WaitLines::is_first(const Waiter& waiter) const {
  const std::lock_guard guard(mutex_);
  return waiter.first;
}

Waiter* WaitLines::offer(std::string_view name, const store::Permits& permits) {
  const std::lock_guard guard(mutex_);
  const auto line = lines_.find(name);
  if (line == lines_.end()) {
    return nullptr;
  }
  Waiter* const first = line->second.front();
  if (first->offered || first->claim.permits != permits) {
    return nullptr;
  }
  first->offered = true;
  return first;
}

void WaitLines::settle(std::string_view name, Waiter& waiter,
                       const base::Result<std::optional<HandedOver>>& outcome) {
  const std::lock_guard guard(mutex_);
  waiter.offered = false;
  waiter.unsure |= !outcome.has_value();
  if (outcome && *outcome) {
    waiter.handed_over = *outcome;
    const auto line = lines_.find(name);
    line->second.remove(&waiter);
    --waiting_;
    if (line->second.empty()) {
      lines_.erase(line);
    } else {
      // Not rung: the name was just taken, and its release will make the next offer. Should that
      // never come, this one finds out by itself that it is first.
      Waiter& next = *line->second.front();
      next.first = true;
      if (next.claim.permits.capacity > 1) {
        next.bell.ring();  // there may be room for it too
      }
    }
  }
  waiter.bell.ring();
}

bool WaitLines::has_line(std::string_view name) const {
  if (waiting_.load(std::memory_order_relaxed) == 0) {
    return false;
  }
  const std::lock_guard guard(mutex_);
  return lines_.contains(name);
}

std::size_t WaitLines::waiting() const { return waiting_.load(std::memory_order_relaxed); }

void WaitLines::close() {
  const std::lock_guard guard(mutex_);
  closed_ = true;
  for (auto& [name, line] : lines_) {
    for (Waiter* const waiter : line) {
      waiter->bell.ring();
    }
  }
}

bool WaitLines::closed() const {
  const std::lock_guard guard(mutex_);
  return closed_;
}

}  // namespace holdfast::locks::internal
