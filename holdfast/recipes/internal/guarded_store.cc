#include <holdfast/recipes/internal/guarded_store.h>

#include <algorithm>
#include <utility>

namespace holdfast::recipes::internal {

using base::Deadline;
using base::ErrorCode;
using base::Result;

namespace {

bool is_outage(ErrorCode code) noexcept {
  return code == ErrorCode::unavailable || code == ErrorCode::unknown_outcome;
}

// Returns whether the store itself was not asked: a full queue or a forked process ends a call so.
bool is_nothing(ErrorCode code) noexcept {
  return code == ErrorCode::limit_exceeded || code == ErrorCode::unsupported;
}

}  // namespace

GuardedStore::GuardedStore(std::shared_ptr<store::LeaseStore> real,
                           std::shared_ptr<Circuit> circuit, base::Duration answer_within)
    : ForwardingStore(std::move(real)),
      circuit_(std::move(circuit)),
      answer_within_(answer_within) {}

Result<void> GuardedStore::around(store::Operation operation, Deadline deadline,
                                  const Forward& forward) {
  if (operation == store::Operation::watch) {
    return forward(deadline);
  }
  if (operation != store::Operation::renew) {
    if (!circuit_->admit()) {
      return base::fail(ErrorCode::unavailable,
                        "the store failed and is not asked again before a pause is over");
    }
    deadline = std::min(deadline, Deadline::after(base::steady_clock(), answer_within_));
  }
  try {
    auto outcome = forward(deadline);
    if (!outcome && is_outage(outcome.error().code)) {
      circuit_->on_failure(outcome.error());
    } else if (!outcome && is_nothing(outcome.error().code)) {
      circuit_->on_nothing();
    } else {
      circuit_->on_answer();
    }
    return outcome;
  } catch (...) {
    circuit_->on_nothing();
    throw;
  }
}

}  // namespace holdfast::recipes::internal
