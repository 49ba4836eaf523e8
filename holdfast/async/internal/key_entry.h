#pragma once

#include <cstddef>
#include <string>

#include <holdfast/async/internal/key_waiter.h>

namespace holdfast::async::internal {

// A key that is held: its holders and its queue. All rules of fairness are here. A key with waiters
// always has a holder.
struct KeyEntry {
  [[nodiscard]] bool is_free() const { return !has_writer && readers == 0; }

  // Returns whether a newcomer may enter: it does not pass waiters.
  [[nodiscard]] bool admits_newcomer(KeyMode mode) const { return waiting.empty() && admits(mode); }

  void enter(KeyMode mode) {
    if (mode == KeyMode::exclusive) {
      has_writer = true;
    } else {
      ++readers;
    }
  }

  void leave(KeyMode mode) {
    if (mode == KeyMode::exclusive) {
      has_writer = false;
    } else {
      --readers;
    }
  }

  void join(KeyWaiter& waiter) {
    waiter.entry = this;
    waiter.state = KeyWaiter::State::waiting;
    waiting.push_back(waiter);
  }

  // Lets in the first waiters of the queue, one writer or adjacent readers, and moves them to
  // `decided`.
  void admit_waiters(WaiterQueue& decided) {
    while (!waiting.empty() && admits(waiting.front()->mode)) {
      KeyWaiter& waiter = waiting.pop_front();
      enter(waiter.mode);
      waiter.state = KeyWaiter::State::decided;
      waiter.outcome = KeyOutcome::entered;
      decided.push_back(waiter);
    }
  }

  KeyEntry* next = nullptr;  // in its bucket, or among the spare entries
  std::size_t hash = 0;
  std::string key;
  std::size_t readers = 0;
  bool has_writer = false;
  WaiterQueue waiting;

 private:
  [[nodiscard]] bool admits(KeyMode mode) const {
    return mode == KeyMode::exclusive ? is_free() : !has_writer;
  }
};

}  // namespace holdfast::async::internal
