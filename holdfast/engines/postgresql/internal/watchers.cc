#include <holdfast/engines/postgresql/internal/watchers.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <holdfast/base/random.h>
#include <holdfast/engines/postgresql/internal/notification.h>

namespace holdfast::engines::postgresql::internal {

namespace {

// The longest time for making a watch: its caller claims afterwards anyway.
constexpr base::Duration kPatience = std::chrono::milliseconds(250);
// The longest time for passing a hint on. Without it another waiter would have to wait until its
// next poll.
constexpr base::Duration kPatienceForHints = std::chrono::seconds(1);

base::Deadline soon(base::Duration patience) {
  return base::Deadline::after(base::steady_clock(), patience);
}

// Positive.
std::int64_t fresh_number() { return static_cast<std::int64_t>((base::random_u64() >> 1U) | 1U); }

}  // namespace

Watchers::Watchers(Pool& pool, Now now)
    : pool_(pool),
      now_(std::move(now)),
      store_(fresh_number()),
      prefix_(pool.options().prefix),
      listener_(pool, store_,
                {.on_message = [this](std::string_view payload) { on_message(payload); },
                 .on_gap = [this] { watches_.notify_all(); }}) {}

store::Watch Watchers::add(std::string_view name, store::WatchCallback callback) {
  const bool is_first = !watches_.has_watchers(name);
  store::Watch watch = watches_.subscribe(name, std::move(callback));
  std::call_once(started_, [this] {
    if (auto started = listener_.start(soon(kPatience)); !started) {
      pool_.options().logger.debug("waiters are not notified of releases yet, and poll: " +
                                   started.error().message);
    }
  });
  if (is_first) {
    join_queue(name);
  }
  return watch;
}

std::int64_t Watchers::waits_as(std::string_view name) const {
  return listener_.is_listening() && watches_.has_watchers(name) ? store_ : 0;
}

void Watchers::on_message(std::string_view payload) {
  const auto told = Notification::parse(payload);
  if (!told || !told->name.starts_with(prefix_)) {
    return;
  }
  const std::string_view name = std::string_view(told->name).substr(prefix_.size());
  if (told->notice.granted || watches_.has_watchers(name)) {
    watches_.notify(name, told->notice);
    return;
  }
  // The waiter here has the name already, or has given up: the hint is for the next.
  static_cast<void>(pool_.run(pool_.schema().statements().pass_on,
                              Parameters().bytes(told->name).optional_number(now_()),
                              Pool::Changes::yes, soon(kPatienceForHints)));
}

// A failure costs only time: the waiters look by themselves.
void Watchers::join_queue(std::string_view name) {
  if (!listener_.is_listening()) {
    return;  // all are notified when it is
  }
  const auto joined = pool_.run(
      pool_.schema().statements().watch,
      Parameters().bytes(prefix_ + std::string(name)).number(store_).optional_number(now_()),
      Pool::Changes::yes, soon(kPatience));
  if (joined && joined->flag(0, 0) == false) {
    watches_.notify(name, {});
  }
}

}  // namespace holdfast::engines::postgresql::internal
