#pragma once

#include <cstddef>
#include <string>

#include <holdfast/async/internal/key_waiter.h>

namespace holdfast::async::internal {

// A key that somebody holds: who is in, and who stands in line. The rules of fairness are here, and
// nowhere else. As long as somebody waits, somebody is in.
struct KeyEntry {
  [[nodiscard]] bool is_free() const { return !has_writer && readers == 0; }

  // Whether a newcomer may go in: nobody passes those who wait.
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

  void stand_in_line(KeyWaiter& waiter) {
    waiter.entry = this;
    waiter.state = KeyWaiter::State::waiting;
    waiting.push_back(waiter);
  }

  // Ends a wait without the key.
  void send_away(KeyWaiter& waiter, KeyOutcome outcome) {
    waiting.erase(waiter);
    waiter.state = KeyWaiter::State::decided;
    waiter.outcome = outcome;
  }

  // Lets in whoever stands in front, one writer or readers next to each other, and moves them to
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

  KeyEntry* next = nullptr;  // in its bucket, or among the spare ones
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
