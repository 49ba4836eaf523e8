#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <holdfast/base/clock.h>

namespace holdfast::simulation {

using Action = std::move_only_function<void()>;

class Timeline;

// Somebody to whom events happen: a process, or the server. While it is stopped, its events wait.
class Actor {
 public:
  explicit Actor(Timeline& timeline) noexcept : timeline_(timeline) {}
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;
  virtual ~Actor() = default;

  [[nodiscard]] bool is_stopped() const noexcept { return is_stopped_; }
  // Returns for how long it has been stopped altogether.
  [[nodiscard]] base::Duration stopped_for() const noexcept;
  [[nodiscard]] bool has_deferred() const noexcept { return !deferred_.empty(); }
  void stop() noexcept;
  // The events that have waited happen now, in their order.
  void go_on();

 private:
  friend class Timeline;

  Timeline& timeline_;
  bool is_stopped_ = false;
  base::TimePoint stopped_at_{};
  base::Duration stopped_for_{};
  std::vector<Action> deferred_;
};

// Virtual time: it passes from event to event. Events of the same time happen in the order in which
// they were added. One thread.
class Timeline {
 public:
  [[nodiscard]] base::TimePoint now() const noexcept { return now_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  // Returns to whom the last event has happened; null for nobody.
  [[nodiscard]] Actor* last_actor() const noexcept { return last_actor_; }

  // Adds an event of `actor`, or of nobody (null). One in the past happens now.
  void at(base::TimePoint when, Actor* actor, Action action);
  void after(base::Duration delay, Actor* actor, Action action) {
    at(now_ + delay, actor, std::move(action));
  }
  // Lets the next event happen, or only the time pass if it lies beyond `end`. Returns false then.
  bool step(base::TimePoint end);

 private:
  struct Event {
    Actor* actor;
    Action action;
  };
  // The heap moves its entries often, so they are small.
  struct Entry {
    base::TimePoint when;
    std::uint64_t order;
    std::uint32_t place;  // in slots_
  };
  static bool is_later(const Entry& a, const Entry& b) noexcept {
    return a.when != b.when ? a.when > b.when : a.order > b.order;
  }

  base::TimePoint now_{};
  std::uint64_t added_ = 0;
  std::uint64_t events_ = 0;
  Actor* last_actor_ = nullptr;
  std::vector<Entry> heap_;
  std::vector<Event> slots_;
  std::vector<std::uint32_t> free_;  // of slots_
};

}  // namespace holdfast::simulation
