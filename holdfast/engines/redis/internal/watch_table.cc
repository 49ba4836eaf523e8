#include <holdfast/engines/redis/internal/watch_table.h>

#include <holdfast/base/ids.h>
#include <holdfast/engines/redis/internal/lua.h>
#include <holdfast/engines/redis/internal/message.h>

namespace holdfast::engines::redis::internal {

namespace {

// The longest time for making a watch: its caller claims afterwards anyway.
constexpr base::Duration kPatience = std::chrono::milliseconds(250);
// The longest time for passing a hint on. Without it another waiter would have to wait until its
// next poll.
constexpr base::Duration kPatienceForHints = std::chrono::seconds(1);

// More hints for nobody here are thrown away: only a broken or hostile server sends so many.
constexpr std::size_t kMostPassedOn = 1024;

base::Deadline soon(base::Duration patience) {
  return base::Deadline::after(base::steady_clock(), patience);
}

}  // namespace

WatchTable::WatchTable(Connection& connection, const Scripts& scripts, const KeySpace& keys,
                       const QueuedClaims& queued)
    : connection_(connection),
      scripts_(scripts),
      keys_(keys),
      queued_(queued),
      logger_(connection.options().logger),
      id_(to_string(base::LeaseId::generate())),
      subscriber_(std::make_unique<Subscriber>(
          connection.options(), std::string(lua::kChannelPrefix) + id_,
          Subscriber::Callbacks{.on_message = [this](std::string_view text) { on_message(text); },
                                .on_gap = [this] { watches_.notify_all(); },
                                .on_idle = [this] { pass_on_strays(); }},
          connection.route())) {}

WatchTable::~WatchTable() {
  if (subscriber_->is_inherited()) {
    // Its thread does not exist in this process, and may have left it in any state.
    (void)subscriber_.release();
  }
}

store::Watch WatchTable::add(std::string_view name, store::WatchCallback callback, Joins joins) {
  const bool is_first = !watches_.has_watchers(name);
  store::Watch watch = watches_.subscribe(name, std::move(callback));
  std::call_once(listening_, [this] { listen(); });
  if (is_first && joins == Joins::the_queue) {
    join_queue(name);
  }
  return watch;
}

void WatchTable::listen() {
  if (auto heard = subscriber_->start(soon(kPatience)); !heard) {
    logger_.warn("waiters are not notified of releases yet, and poll: " + heard.error().message);
  }
  has_tried_to_listen_ = true;
}

WatchTable::Listening WatchTable::listening() const {
  if (!has_tried_to_listen_) {
    return Listening::not_yet;
  }
  return subscriber_->is_listening() ? Listening::yes : Listening::no;
}

std::string_view WatchTable::waits_as(std::string_view name) const {
  return watches_.has_watchers(name) && subscriber_->is_listening() ? std::string_view(id_)
                                                                    : std::string_view();
}

void WatchTable::on_message(std::string_view text) {
  const auto message = read_message(text);
  const auto name = message ? keys_.name_of_plain(message->plain) : std::nullopt;
  if (!name) {
    return;
  }
  if (message->granted && queued_.was_removed(*name, *message->granted)) {
    decline(*name, *message->granted);
  } else if (message->granted || watches_.has_watchers(*name)) {
    watches_.notify(*name, {.granted = message->granted});
  } else if (strays_.size() + *passing_on_ < kMostPassedOn) {
    strays_.emplace_back(*name);  // the waiter here has the name already, or has given up
  }
}

void WatchTable::pass_on_strays() {
  for (const std::string& name : strays_) {
    pass_on(name);
  }
  strays_.clear();
}

// A failure costs only time: the waiters look by themselves.
void WatchTable::join_queue(std::string_view name) const {
  if (!subscriber_->is_listening()) {
    return;  // all are notified when it is
  }
  static_cast<void>(
      connection_.call(scripts_.command(lua::kWatch, name).add(id_), soon(kPatience)));
}

// Without it the name would stay granted to nobody for as long as a waiter has to confirm. Does not
// wait, either.
void WatchTable::decline(std::string_view name, const base::LeaseId& id) const {
  connection_.submit(scripts_.command(lua::kDecline, name).add(to_string(id)),
                     soon(kPatienceForHints), [](const base::Result<Reply>&) {});
}

// Does not wait: the next message may be for a waiter here. If it fails, the other waiters poll.
void WatchTable::pass_on(std::string_view name) const {
  passing_on_->fetch_add(1);
  connection_.submit(scripts_.command(lua::kPass, name), soon(kPatienceForHints),
                     [count = passing_on_](const base::Result<Reply>&) { count->fetch_sub(1); });
}

}  // namespace holdfast::engines::redis::internal
