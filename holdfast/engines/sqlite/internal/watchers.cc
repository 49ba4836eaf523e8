#include <holdfast/engines/sqlite/internal/watchers.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/base/mutex.h>
#include <holdfast/store/watch_list.h>

namespace holdfast::engines::sqlite::internal {

namespace {

// Well within the time for which await() speaks.
constexpr base::Duration kRepeatAwait = WakeBoard::kAwaitedFor / 3;
// After the `-wake` file was truncated: how often to look whether it is whole again.
constexpr base::Duration kPauseAfterBadSleep = std::chrono::milliseconds(500);

struct WatchedName {
  std::size_t watches = 0;
  // The claims of its waiters that are in the queue: these get grants and need no hints.
  std::set<base::LeaseId> queued{};

  [[nodiscard]] bool wants_hints() const { return watches > queued.size(); }
};

// The watches of this process in one slot of the board.
struct WatchedSlot {
  WakeBoard::News seen;              // what the watchers know of
  std::uint32_t grants_at_wake = 0;  // seen.grants when this process was last woken
  std::map<std::string, WatchedName, std::less<>> names;

  [[nodiscard]] bool wants_hints() const {
    return std::ranges::any_of(names, [](const auto& name) { return name.second.wants_hints(); });
  }
};

// A notice for the watchers of a name.
struct Told {
  std::string name;
  store::Notice notice;
};

}  // namespace

struct Watchers::State {
  State(std::unique_ptr<WakeBoard> the_board, base::Logger the_logger)
      : board(std::move(the_board)), logger(std::move(the_logger)) {}

  void watch(std::string_view name);
  void unwatch(std::string_view name);
  void set_queued(std::string_view name, const base::LeaseId& id, Queued queued);
  struct Asks {
    bool is_ours = false;      // the claim is in the queue for a waiter of this process
    bool wants_hints = false;  // another one watches the name and is not in the queue
  };
  [[nodiscard]] Asks asks(std::string_view name, const base::LeaseId& id);
  [[nodiscard]] bool is_listening();
  void tell_others(std::string_view name);
  void listen(const std::stop_token& stop);
  // Returns whether it may have been woken.
  bool sleep(std::uint32_t seen, const std::stop_token& stop);
  // Returns what to tell to whom, and says again for which slots hints are wanted.
  std::vector<Told> take_news(bool was_woken);

  const std::unique_ptr<WakeBoard> board;
  const base::Logger logger;
  store::WatchList watches;

  std::atomic<std::uint64_t> times_woken = 0;
  base::Mutex mutex;
  base::ConditionVariable watched;  // or the listener is to stop
  std::map<WakeBoard::Slot, WatchedSlot> slots HOLDFAST_GUARDED_BY(mutex);
  std::jthread listener HOLDFAST_GUARDED_BY(mutex);
  bool was_whole = true;  // the board's file; the listener's alone
};

Watchers::Watchers(std::unique_ptr<WakeBoard> board, base::Logger logger)
    : state_(std::make_shared<State>(std::move(board), std::move(logger))) {}

Watchers::~Watchers() {
  std::jthread listener;
  {
    const base::MutexLock lock(state_->mutex);
    listener.swap(state_->listener);
  }
  if (listener.joinable()) {
    listener.request_stop();
    state_->board->wake_self();
  }
}

bool Watchers::hears_other_processes() const noexcept { return state_->board != nullptr; }

store::Watch Watchers::add(std::string_view name, store::WatchCallback callback) {
  store::Watch watch = state_->watches.subscribe(name, std::move(callback));
  state_->watch(name);
  if (state_->board != nullptr) {
    start_listening();
  }
  return store::Watch([state = state_, name = std::string(name),
                       inner = std::make_shared<store::Watch>(std::move(watch))] {
    inner->reset();
    state->unwatch(name);
  });
}

void Watchers::start_listening() {
  const base::MutexLock lock(state_->mutex);
  if (state_->listener.joinable()) {
    return;
  }
  try {
    // The state outlives the thread: ~Watchers joins it.
    state_->listener =
        std::jthread([state = state_.get()](const std::stop_token& stop) { state->listen(stop); });
  } catch (const std::system_error& error) {
    state_->logger.warn(
        std::string("no thread to listen for other processes, waiting will poll: ") + error.what());
  }
}

void Watchers::notify(std::string_view name) {
  state_->watches.notify(name, {});
  if (state_->board != nullptr && state_->board->is_awaited(WakeBoard::slot_of(name))) {
    state_->tell_others(name);
  }
}

void Watchers::grant(std::string_view name, WakeBoard::Address to, const base::LeaseId& id) {
  const State::Asks asks = state_->asks(name, id);
  if (asks.is_ours) {
    state_->watches.notify(name, {.granted = id});
  } else if (state_->board != nullptr && to != WakeBoard::kNoAddress) {
    state_->board->grant(WakeBoard::slot_of(name), to, id);
  }
  if (asks.wants_hints) {
    state_->watches.notify(name, {});
  }
}

WakeBoard::Address Watchers::address() const noexcept {
  return state_->board != nullptr ? state_->board->address() : WakeBoard::kNoAddress;
}

bool Watchers::is_alive(WakeBoard::Address address) const noexcept {
  return state_->board == nullptr || address == WakeBoard::kNoAddress ||
         state_->board->is_alive(address);
}

bool Watchers::hears(std::string_view name, const base::LeaseId& id) const {
  return state_->is_listening() && state_->asks(name, id).is_ours;
}

void Watchers::set_queued(std::string_view name, const base::LeaseId& id, Queued queued) {
  state_->set_queued(name, id, queued);
}

std::uint64_t Watchers::times_woken() const noexcept { return state_->times_woken; }

void Watchers::State::watch(std::string_view name) {
  const WakeBoard::Slot slot = WakeBoard::slot_of(name);
  const base::MutexLock lock(mutex);
  const auto [place, is_new] = slots.try_emplace(slot);
  if (board != nullptr) {
    board->await(slot);
    if (is_new) {
      place->second.seen = board->news(slot);
      place->second.grants_at_wake = place->second.seen.grants;
    }
  }
  ++place->second.names[std::string(name)].watches;
  watched.notify_one();
}

void Watchers::State::unwatch(std::string_view name) {
  const base::MutexLock lock(mutex);
  const auto slot = slots.find(WakeBoard::slot_of(name));
  const auto place = slot->second.names.find(name);
  if (--place->second.watches == 0) {
    slot->second.names.erase(place);
  }
  if (slot->second.names.empty()) {
    slots.erase(slot);
  }
}

void Watchers::State::set_queued(std::string_view name, const base::LeaseId& id, Queued queued) {
  const base::MutexLock lock(mutex);
  const auto slot = slots.find(WakeBoard::slot_of(name));
  if (slot == slots.end()) {
    return;
  }
  const auto place = slot->second.names.find(name);
  if (place == slot->second.names.end()) {
    return;
  }
  if (queued == Queued::yes) {
    place->second.queued.insert(id);
    return;
  }
  place->second.queued.erase(id);
}

Watchers::State::Asks Watchers::State::asks(std::string_view name, const base::LeaseId& id) {
  const base::MutexLock lock(mutex);
  const auto slot = slots.find(WakeBoard::slot_of(name));
  if (slot == slots.end()) {
    return {};
  }
  const auto place = slot->second.names.find(name);
  if (place == slot->second.names.end()) {
    return {};
  }
  return {.is_ours = place->second.queued.contains(id), .wants_hints = place->second.wants_hints()};
}

bool Watchers::State::is_listening() {
  const base::MutexLock lock(mutex);
  return listener.joinable() && board->is_whole();
}

void Watchers::State::tell_others(std::string_view name) {
  const WakeBoard::Slot slot = WakeBoard::slot_of(name);
  const base::MutexLock lock(mutex);
  const std::uint32_t before = board->news(slot).hints;
  const std::uint32_t hints = board->hint(slot);
  // Our own watchers have their notice already.
  if (const auto own = slots.find(slot); own != slots.end() && own->second.seen.hints == before) {
    own->second.seen.hints = hints;
  }
}

void Watchers::State::listen(const std::stop_token& stop) {
  const std::stop_callback on_stop(stop, [this] {
    const base::MutexLock lock(mutex);
    watched.notify_all();
  });
  bool was_woken = true;  // perhaps, before it listened
  while (!stop.stop_requested()) {
    const std::uint32_t seen = board->stamp();  // first: what comes from now on ends the sleep
    for (const Told& told : take_news(was_woken)) {
      watches.notify(told.name, told.notice);
    }
    {
      const base::MutexLock lock(mutex);
      if (slots.empty()) {
        while (slots.empty() && !stop.stop_requested()) {
          watched.wait(mutex);
        }
        was_woken = true;
        continue;
      }
    }
    if (!stop.stop_requested()) {
      was_woken = sleep(seen, stop);
    }
  }
}

bool Watchers::State::sleep(std::uint32_t seen, const std::stop_token& stop) {
  const WakeBoard::Slept slept = board->sleep(seen, kRepeatAwait);
  if (slept == WakeBoard::Slept::badly) {
    const base::MutexLock lock(mutex);
    if (!stop.stop_requested()) {
      watched.wait_for(mutex, kPauseAfterBadSleep);
    }
  }
  times_woken += slept == WakeBoard::Slept::till_woken ? 1 : 0;
  return slept == WakeBoard::Slept::till_woken || slept == WakeBoard::Slept::not_at_all;
}

std::vector<Told> Watchers::State::take_news(bool was_woken) {
  std::vector<Told> told;
  const bool is_whole = board->is_whole();
  const bool is_lost = std::exchange(was_whole, is_whole) && !is_whole;
  const base::MutexLock lock(mutex);
  for (auto& [slot, watched_slot] : slots) {
    if (watched_slot.wants_hints()) {
      board->await(slot);
    }
    const WakeBoard::News news = board->news(slot);
    const bool is_hinted = news.hints != watched_slot.seen.hints;
    const bool is_granted =
        news.grants != watched_slot.seen.grants && news.granted_to == board->address();
    watched_slot.seen = news;
    // A later grant may have taken the place of ours: the waiter asks.
    const bool is_passed_over = was_woken && news.grants != watched_slot.grants_at_wake;
    watched_slot.grants_at_wake = was_woken ? news.grants : watched_slot.grants_at_wake;
    for (const auto& [name, watched_name] : watched_slot.names) {
      const bool may_be_lost = (is_passed_over || is_lost) && !watched_name.queued.empty();
      if (is_hinted || may_be_lost) {
        told.push_back({.name = name, .notice = {}});
      }
      if (is_granted) {
        told.push_back({.name = name, .notice = {.granted = news.granted}});
      }
    }
  }
  return told;
}

}  // namespace holdfast::engines::sqlite::internal
