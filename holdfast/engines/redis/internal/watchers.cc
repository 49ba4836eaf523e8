#include <holdfast/engines/redis/internal/watchers.h>

#include <map>

#include <holdfast/base/ids.h>
#include <holdfast/engines/redis/internal/lua.h>
#include <holdfast/engines/redis/internal/message.h>

namespace holdfast::engines::redis::internal {

namespace {

// How long a watch may take: its caller claims afterwards anyway.
constexpr base::Duration kPatience = std::chrono::milliseconds(250);
// How long a hint may take that is passed on, for which another waiter would have to wait until its
// next poll.
constexpr base::Duration kPatienceForHints = std::chrono::seconds(1);

// More hints for nobody here are thrown away: only a broken or hostile server sends so many.
constexpr std::size_t kMostStrays = 1024;

base::Deadline soon(base::Duration patience = kPatience) {
  return base::Deadline::after(base::steady_clock(), patience);
}

}  // namespace

struct Watchers::Names {
  std::atomic<std::size_t> watches{0};
  std::mutex mutex;
  std::map<std::string, std::size_t, std::less<>> counts;  // protected by mutex

  [[nodiscard]] bool contains(std::string_view name) {
    if (watches.load(std::memory_order_relaxed) == 0) [[likely]] {
      return false;
    }
    const std::lock_guard guard(mutex);
    return counts.contains(name);
  }

  // Whether it is the first of that name.
  [[nodiscard]] bool add(std::string_view name) {
    const std::lock_guard guard(mutex);
    watches.fetch_add(1, std::memory_order_relaxed);
    return ++counts[std::string(name)] == 1;
  }

  void remove(std::string_view name) {
    const std::lock_guard guard(mutex);
    watches.fetch_sub(1, std::memory_order_relaxed);
    const auto place = counts.find(name);
    if (--place->second == 0) {
      counts.erase(place);
    }
  }
};

Watchers::Watchers(const RedisOptions& options, const Scripts& scripts, const KeySpace& keys)
    : scripts_(scripts),
      keys_(keys),
      logger_(options.logger),
      id_(to_string(base::LeaseId::generate())),
      names_(std::make_shared<Names>()),
      subscriber_(options, {.on_message = [this](std::string_view,
                                                 std::string_view text) { on_message(text); },
                            .on_gap = [this] { wakeups_.notify_all(); },
                            .chores = [this] { pass_on_strays(); }}) {}

store::Watch Watchers::add(std::string_view name, store::WatchCallback callback) {
  auto inner = std::make_shared<store::Watch>(wakeups_.subscribe(name, std::move(callback)));
  const bool is_first = names_->add(name);
  store::Watch watch([names = names_, name = std::string(name), inner] {
    inner->reset();
    names->remove(name);
  });
  std::call_once(listening_, [this] { listen(); });
  if (is_first) {
    stand_in_queue(name);
  }
  return watch;
}

void Watchers::listen() {
  if (auto heard = subscriber_.subscribe(std::string(lua::kChannelPrefix) + id_, soon()); !heard) {
    logger_.warn("waiters are not told of releases yet, and ask again and again: " +
                 heard.error().message);
  }
}

std::string_view Watchers::waits_as(std::string_view name) const {
  return names_->contains(name) && subscriber_.is_listening() ? std::string_view(id_)
                                                              : std::string_view();
}

void Watchers::on_message(std::string_view text) {
  const auto message = read_message(text);
  const auto name = message ? keys_.name_of_plain(message->plain) : std::nullopt;
  if (!name) {
    return;
  }
  if (message->granted) {
    wakeups_.notify(*name, {.granted = message->granted});
  } else {
    on_hint(*name);
  }
}

void Watchers::on_hint(std::string_view name) {
  if (names_->contains(name)) {
    wakeups_.notify(name, {});
    return;
  }
  // Whoever waited here has it, or has gone. To pass it on takes a request, for which a guest of
  // the subscriber has no time.
  {
    const std::lock_guard guard(mutex_);
    if (strays_.size() == kMostStrays) {
      return;
    }
    strays_.emplace_back(name);
  }
  subscriber_.call_for_chores();
}

void Watchers::pass_on_strays() {
  std::vector<std::string> strays;
  {
    const std::lock_guard guard(mutex_);
    strays.swap(strays_);
  }
  for (const std::string& name : strays) {
    if (!pass_on(name)) {
      return;  // the server cannot be asked: its waiters poll
    }
  }
}

// A failure costs only time: the waiters look by themselves.
void Watchers::stand_in_queue(std::string_view name) const {
  if (!subscriber_.is_listening()) {
    return;  // all are told when it is
  }
  const Keys keys = keys_.keys_of(name);
  static_cast<void>(scripts_.run(
      lua::kWatch,
      [&](Command& command) {
        command.add(3).add(keys.plain).add(keys.companion).add(keys.queue);
        scripts_.add_common(command);
        command.add(id_);
      },
      soon()));
}

bool Watchers::pass_on(std::string_view name) const {
  const Keys keys = keys_.keys_of(name);
  return scripts_
      .run(
          lua::kPass,
          [&](Command& command) {
            command.add(2).add(keys.plain).add(keys.queue);
            scripts_.add_common(command);
          },
          soon(kPatienceForHints))
      .has_value();
}

}  // namespace holdfast::engines::redis::internal
