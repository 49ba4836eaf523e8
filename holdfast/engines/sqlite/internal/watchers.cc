#include <holdfast/engines/sqlite/internal/watchers.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/store/wakeups.h>

namespace holdfast::engines::sqlite::internal {

namespace {

// Well within the time for which await() speaks.
constexpr base::Duration kRepeatAwait = WakeBoard::kAwaitedFor / 3;
// Where nobody wants hints, only a grant ends the sleep.
constexpr base::Duration kLongSleep = std::chrono::minutes(1);
// After the `-wake` file was truncated: how often to look whether it is whole again.
constexpr base::Duration kPauseAfterBadSleep = std::chrono::milliseconds(500);

struct WatchedName {
  std::size_t watches = 0;
  bool is_queued = false;  // its waiter is told of its grant and needs no hints
};

// What this process watches in one slot of the board.
struct WatchedSlot {
  WakeBoard::News seen;  // what the watchers know of
  std::map<std::string, WatchedName, std::less<>> names;

  [[nodiscard]] bool wants_hints() const {
    return std::ranges::any_of(names, [](const auto& name) { return !name.second.is_queued; });
  }
};

// What to tell the watchers of a name.
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
  void set_queued(std::string_view name, bool is_queued);
  void tell_others(std::string_view name);
  void listen(const std::stop_token& stop);
  void sleep(std::uint32_t seen, base::Duration at_most, const std::stop_token& stop);
  // Returns what to tell to whom, and says again for which slots hints are wanted.
  std::vector<Told> take_news();
  // Returns how long to sleep.
  [[nodiscard]] base::Duration until_next_await();

  const std::unique_ptr<WakeBoard> board;
  const base::Logger logger;
  store::Wakeups wakeups;

  std::mutex mutex;
  std::condition_variable_any watched;
  std::map<WakeBoard::Slot, WatchedSlot> slots;  // protected by mutex
  std::jthread listener;                         // protected by mutex until it is joined
};

Watchers::Watchers(std::unique_ptr<WakeBoard> board, base::Logger logger)
    : state_(std::make_shared<State>(std::move(board), std::move(logger))) {}

Watchers::~Watchers() {
  std::jthread listener;
  {
    const std::lock_guard guard(state_->mutex);
    listener.swap(state_->listener);
  }
  if (listener.joinable()) {
    listener.request_stop();
    state_->board->wake_self();
  }
}

bool Watchers::hears_other_processes() const noexcept { return state_->board != nullptr; }

store::Watch Watchers::add(std::string_view name, store::WatchCallback callback) {
  store::Watch watch = state_->wakeups.subscribe(name, std::move(callback));
  if (state_->board == nullptr) {
    return watch;
  }
  state_->watch(name);
  start_listening();
  return store::Watch([state = state_, name = std::string(name),
                       inner = std::make_shared<store::Watch>(std::move(watch))] {
    inner->reset();
    state->unwatch(name);
  });
}

void Watchers::start_listening() {
  const std::lock_guard guard(state_->mutex);
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
  state_->wakeups.notify(name, {});
  if (state_->board != nullptr && state_->board->is_awaited(WakeBoard::slot_of(name))) {
    state_->tell_others(name);
  }
}

void Watchers::grant(std::string_view name, WakeBoard::Address to, const base::LeaseId& id) {
  if (to == address()) {
    state_->wakeups.notify(name, {.granted = id});
  }
  if (state_->board != nullptr) {  // even then: another process may share the address
    state_->board->grant(WakeBoard::slot_of(name), to, id);
  }
}

WakeBoard::Address Watchers::address() const noexcept {
  return state_->board != nullptr ? state_->board->address() : 0;
}

void Watchers::set_queued(std::string_view name, Queued queued) {
  if (state_->board != nullptr) {
    state_->set_queued(name, queued == Queued::yes);
  }
}

void Watchers::State::watch(std::string_view name) {
  const WakeBoard::Slot slot = WakeBoard::slot_of(name);
  const std::lock_guard guard(mutex);
  board->await(slot);
  const auto [place, is_new] = slots.try_emplace(slot);
  if (is_new) {
    place->second.seen = board->news(slot);
  }
  ++place->second.names[std::string(name)].watches;
  watched.notify_one();
}

void Watchers::State::unwatch(std::string_view name) {
  const std::lock_guard guard(mutex);
  const auto slot = slots.find(WakeBoard::slot_of(name));
  const auto place = slot->second.names.find(name);
  if (--place->second.watches == 0) {
    slot->second.names.erase(place);
  }
  if (slot->second.names.empty()) {
    slots.erase(slot);
  }
}

void Watchers::State::set_queued(std::string_view name, bool is_queued) {
  const WakeBoard::Slot number = WakeBoard::slot_of(name);
  const std::lock_guard guard(mutex);
  const auto slot = slots.find(number);
  if (slot == slots.end()) {
    return;
  }
  const auto place = slot->second.names.find(name);
  if (place == slot->second.names.end() || place->second.is_queued == is_queued) {
    return;
  }
  place->second.is_queued = is_queued;
  if (!is_queued) {
    board->await(number);
    board->wake_self();  // the listener sleeps longer than this lasts
  }
}

void Watchers::State::tell_others(std::string_view name) {
  const WakeBoard::Slot slot = WakeBoard::slot_of(name);
  const std::lock_guard guard(mutex);
  const std::uint32_t before = board->news(slot).hints;
  const std::uint32_t hints = board->hint(slot);
  // Our own watchers have been told already.
  if (const auto own = slots.find(slot); own != slots.end() && own->second.seen.hints == before) {
    own->second.seen.hints = hints;
  }
}

void Watchers::State::listen(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::uint32_t seen = board->stamp();  // first: what comes from now on ends the sleep
    for (const Told& told : take_news()) {
      wakeups.notify(told.name, told.notice);
    }
    {
      std::unique_lock lock(mutex);
      if (slots.empty()) {
        watched.wait(lock, stop, [&] { return !slots.empty(); });
        continue;
      }
    }
    if (!stop.stop_requested()) {
      sleep(seen, until_next_await(), stop);
    }
  }
}

void Watchers::State::sleep(std::uint32_t seen, base::Duration at_most,
                            const std::stop_token& stop) {
  if (board->sleep(seen, at_most) == WakeBoard::Slept::badly) {
    std::unique_lock lock(mutex);
    watched.wait_for(lock, stop, kPauseAfterBadSleep, [] { return false; });
  }
}

base::Duration Watchers::State::until_next_await() {
  const std::lock_guard guard(mutex);
  const bool wants_hints =
      std::ranges::any_of(slots, [](const auto& slot) { return slot.second.wants_hints(); });
  return wants_hints ? kRepeatAwait : kLongSleep;
}

std::vector<Told> Watchers::State::take_news() {
  std::vector<Told> told;
  const std::lock_guard guard(mutex);
  for (auto& [slot, watched_slot] : slots) {
    if (watched_slot.wants_hints()) {
      board->await(slot);
    }
    const WakeBoard::News news = board->news(slot);
    const bool is_hinted = news.hints != watched_slot.seen.hints;
    const bool is_granted =
        news.grants != watched_slot.seen.grants && news.granted_to == board->address();
    watched_slot.seen = news;
    for (const auto& [name, watched_name] : watched_slot.names) {
      if (is_hinted) {
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
