#include <holdfast/store/watch_list.h>

#include <atomic>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/base/mutex.h>
#include <holdfast/base/process_mark.h>

namespace holdfast::store {

namespace {

class Subscriber {
 public:
  explicit Subscriber(WatchCallback callback) : callback_(std::move(callback)) {}

  void call(const Notice& notice) {
    const base::MutexLock lock(mutex_);
    if (callback_) {
      callback_(notice);
    }
  }
  // Blocks while the callback runs.
  void cancel() {
    const base::MutexLock lock(mutex_);
    callback_ = nullptr;
  }

 private:
  base::Mutex mutex_;
  WatchCallback callback_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace

struct WatchList::State {
  using ByName = std::multimap<std::string, std::shared_ptr<Subscriber>, std::less<>>;

  // Calls those that `find` returns as a range. No callback runs under the mutex.
  template <class Find>
  void call(const Notice& notice, const Find& find) {
    std::vector<std::shared_ptr<Subscriber>> found;
    {
      const base::MutexLock lock(mutex);
      for (auto [next, last] = find(by_name); next != last; ++next) {
        found.push_back(next->second);
      }
    }
    for (const auto& subscriber : found) {
      subscriber->call(notice);
    }
  }

  std::atomic<std::size_t> count{0};
  base::Mutex mutex;
  ByName by_name HOLDFAST_GUARDED_BY(mutex);
};

WatchList::WatchList() : state_(std::make_shared<State>()) {}
WatchList::~WatchList() = default;

Watch WatchList::subscribe(std::string_view name, WatchCallback callback) {
  auto subscriber = std::make_shared<Subscriber>(std::move(callback));
  const base::MutexLock lock(state_->mutex);
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
    const base::MutexLock erase_lock(state->mutex);
    state->by_name.erase(place);
    state->count.fetch_sub(1, std::memory_order_relaxed);
  });
}

std::size_t WatchList::count(std::string_view name) const {
  if (state_->count.load(std::memory_order_relaxed) == 0) [[likely]] {
    return 0;
  }
  const base::MutexLock lock(state_->mutex);
  return state_->by_name.count(name);
}

void WatchList::notify(std::string_view name, const Notice& notice) const {
  if (state_->count.load(std::memory_order_relaxed) == 0) {
    return;
  }
  state_->call(notice, [&](const State::ByName& by_name) { return by_name.equal_range(name); });
}

void WatchList::notify_all() const {
  state_->call(
      {}, [](const State::ByName& by_name) { return std::pair(by_name.begin(), by_name.end()); });
}

}  // namespace holdfast::store
