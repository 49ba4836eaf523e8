#include <holdfast/engines/sqlite/internal/watchers.h>

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

// What this process watches in one slot of the board.
struct WatchedSlot {
  std::uint32_t seen = 0;  // the hints that the watchers know of
  std::map<std::string, std::size_t, std::less<>> names;
};

}  // namespace

struct Watchers::State {
  State(std::unique_ptr<WakeBoard> the_board, base::Logger the_logger)
      : board(std::move(the_board)), logger(std::move(the_logger)) {}

  void watch(std::string_view name);
  void unwatch(std::string_view name);
  void tell_others(std::string_view name);
  void listen(const std::stop_token& stop);
  std::vector<std::string> take_hinted();

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
    state_->board->wake_all();
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

void Watchers::State::watch(std::string_view name) {
  const WakeBoard::Slot slot = WakeBoard::slot_of(name);
  const std::lock_guard guard(mutex);
  board->await(slot);
  const auto [place, is_new] = slots.try_emplace(slot);
  if (is_new) {
    place->second.seen = board->hints(slot);
  }
  ++place->second.names[std::string(name)];
  watched.notify_one();
}

void Watchers::State::unwatch(std::string_view name) {
  const std::lock_guard guard(mutex);
  const auto slot = slots.find(WakeBoard::slot_of(name));
  const auto place = slot->second.names.find(name);
  if (--place->second == 0) {
    slot->second.names.erase(place);
  }
  if (slot->second.names.empty()) {
    slots.erase(slot);
  }
}

void Watchers::State::tell_others(std::string_view name) {
  const WakeBoard::Slot slot = WakeBoard::slot_of(name);
  {
    const std::lock_guard guard(mutex);
    const std::uint32_t before = board->add_hint(slot);
    // Our own watchers have been told already.
    if (const auto own = slots.find(slot); own != slots.end() && own->second.seen == before) {
      own->second.seen = before + 1;
    }
  }
  board->wake_all();
}

void Watchers::State::listen(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::uint32_t seen = board->all_hints();  // first: what comes from now on ends the sleep
    for (const std::string& name : take_hinted()) {
      wakeups.notify(name, {});
    }
    std::unique_lock lock(mutex);
    if (slots.empty()) {
      watched.wait(lock, stop, [&] { return !slots.empty(); });
      continue;
    }
    lock.unlock();
    if (!stop.stop_requested()) {
      board->sleep(seen, kRepeatAwait);
    }
  }
}

// The watched names that somebody may have released; and says again that they are waited for.
std::vector<std::string> Watchers::State::take_hinted() {
  std::vector<std::string> hinted;
  const std::lock_guard guard(mutex);
  for (auto& [slot, watched_slot] : slots) {
    board->await(slot);
    if (const std::uint32_t hints = board->hints(slot); hints != watched_slot.seen) {
      watched_slot.seen = hints;
      for (const auto& [name, watches] : watched_slot.names) {
        hinted.push_back(name);
      }
    }
  }
  return hinted;
}

}  // namespace holdfast::engines::sqlite::internal
