#include <holdfast/store/watch_list.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/base/process_mark.h>

namespace holdfast::store {

namespace {

struct Subscriber {
  std::mutex calling;  // held while the callback runs: who cancels waits for it
  WatchCallback callback;

  void call(const Notice& notice) {
    const std::lock_guard guard(calling);
    if (callback) {
      callback(notice);
    }
  }
  void cancel() {
    const std::lock_guard guard(calling);
    callback = nullptr;
  }
};

}  // namespace

struct WatchList::State {
  std::atomic<std::size_t> count{0};
  std::mutex mutex;
  std::multimap<std::string, std::shared_ptr<Subscriber>, std::less<>> by_name;

  // Copies what matches, so that no callback runs under the hub's own mutex.
  template <class Range>
  static void call(Range first, Range last, const Notice& notice,
                   std::unique_lock<std::mutex> guard) {
    std::vector<std::shared_ptr<Subscriber>> subscribers;
    for (; first != last; ++first) {
      subscribers.push_back(first->second);
    }
    guard.unlock();
    for (const auto& subscriber : subscribers) {
      subscriber->call(notice);
    }
  }
};

WatchList::WatchList() : state_(std::make_shared<State>()) {}
WatchList::~WatchList() = default;

Watch WatchList::subscribe(std::string_view name, WatchCallback callback) {
  auto subscriber = std::make_shared<Subscriber>();
  subscriber->callback = std::move(callback);
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->by_name.emplace(std::string(name), subscriber);
  state_->count.fetch_add(1, std::memory_order_relaxed);
  return Watch([state = state_, subscriber, place, process = base::ProcessMark()] {
    if (process.is_inherited()) {
      // A thread that is not there may have a mutex, or be in the middle of a change.
      static_cast<void>(new std::shared_ptr(state));
      static_cast<void>(new std::shared_ptr(subscriber));
      return;
    }
    subscriber->cancel();
    const std::lock_guard cancel_guard(state->mutex);
    state->by_name.erase(place);
    state->count.fetch_sub(1, std::memory_order_relaxed);
  });
}

bool WatchList::has_watchers(std::string_view name) const {
  if (state_->count.load(std::memory_order_relaxed) == 0) [[likely]] {
    return false;
  }
  const std::lock_guard guard(state_->mutex);
  return state_->by_name.contains(name);
}

void WatchList::notify(std::string_view name, const Notice& notice) const {
  if (state_->count.load(std::memory_order_relaxed) == 0) {
    return;
  }
  std::unique_lock guard(state_->mutex);
  const auto [first, last] = state_->by_name.equal_range(name);
  State::call(first, last, notice, std::move(guard));
}

void WatchList::notify_all() const {
  std::unique_lock guard(state_->mutex);
  State::call(state_->by_name.begin(), state_->by_name.end(), Notice{}, std::move(guard));
}

}  // namespace holdfast::store
