#include <holdfast/engines/mongodb/internal/watchers.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include <holdfast/base/mutex.h>
#include <holdfast/base/process_mark.h>
#include <holdfast/base/random.h>
#include <holdfast/engines/mongodb/internal/record_codec.h>
#include <holdfast/store/lease_rules.h>

namespace holdfast::engines::mongodb::internal {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::Result;
using std::chrono::milliseconds;

// The longest time for which the server waits for a change before it answers that there was none:
// well within the time after which it would count as dead.
constexpr base::Duration kChangesWait = std::chrono::seconds(1);
// The time for which an unused stream is kept open.
constexpr base::Duration kKeep = std::chrono::seconds(10);
// $changeStream on a server that is not of a replica set.
constexpr int kOnlyOnReplicaSets = 40573;
// To a user who may not follow changes.
constexpr int kNotAllowed = 13;

constexpr std::string_view kNoDocument = "free";

// Empty if all permits are taken, or if it is not a lock at all; else something that changes with
// every grant and release.
std::string room_in(const BsonValue& document) {
  const auto record = record_of(document);
  const auto now = document.find("now");
  if (!record || !now || !now->date()) {
    return "";
  }
  const auto state =
      store::lease_rules::look(*base::Name::make("any"), *record, instant_of(*now->date()));
  std::uint64_t used = 0;
  for (const store::Holder& holder : state ? state->holders : std::vector<store::Holder>()) {
    used += holder.permits;
  }
  if (state && used >= state->capacity) {
    return "";
  }
  return std::to_string(record->last_token) + " " + std::to_string(used) + " " +
         std::to_string(record->waits.size());
}

Deadline after(base::Duration time) { return Deadline::after(base::steady_clock(), time); }

}  // namespace

struct Watchers::Names {
  base::Mutex mutex;
  base::ConditionVariable changed;
  std::map<std::string, std::size_t, std::less<>> counts HOLDFAST_GUARDED_BY(mutex);

  void add(std::string_view name) {
    const base::MutexLock guard(mutex);
    ++counts[std::string(name)];
    changed.notify_all();
  }

  void remove(std::string_view name) {
    const base::MutexLock guard(mutex);
    const auto place = counts.find(name);
    if (--place->second == 0) {
      counts.erase(place);
    }
  }

  [[nodiscard]] std::vector<std::string> all() {
    const base::MutexLock guard(mutex);
    std::vector<std::string> names;
    for (const auto& [name, count] : counts) {
      names.push_back(name);
    }
    return names;
  }

  // False if the time has passed, or we are to stop.
  bool wait_for_some(base::Duration time, const std::atomic<bool>& stopping) {
    const base::MutexLock guard(mutex);
    const auto until = std::chrono::steady_clock::now() + time;
    while (counts.empty() && !stopping.load() &&
           changed.wait_until(mutex, until) == std::cv_status::no_timeout) {
    }
    return !counts.empty() && !stopping.load();
  }
};

Watchers::Watchers(Link& link, const Requests& requests, const IdSpace& ids)
    : link_(link),
      requests_(requests),
      ids_(ids),
      names_(std::make_shared<Names>()),
      pace_(link.options().busy_wait_least, link.options().busy_wait_most) {}

Watchers::~Watchers() {
  {
    const base::MutexLock guard(names_->mutex);
    stopping_ = true;
    names_->changed.notify_all();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

Result<store::Watch> Watchers::add(std::string_view name, store::WatchCallback callback) {
  auto inner = std::make_shared<store::Watch>(watches_.subscribe(name, std::move(callback)));
  names_->add(name);
  store::Watch watch(
      [names = names_, name = std::string(name), inner, process = base::ProcessMark()] {
        inner->reset();
        if (process.is_inherited()) {
          static_cast<void>(new std::shared_ptr(names));  // in use by a thread that is not there
          return;
        }
        names->remove(name);
      });
  try {
    std::call_once(started_, [this] { thread_ = std::thread([this] { run(); }); });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::unavailable, std::string("there is no thread: ") + error.what());
  }
  return watch;
}

void Watchers::run() {
  while (!is_stopping()) {
    if (!names_->wait_for_some(kKeep, stopping_)) {
      continue;
    }
    if (mode_ == Mode::stream) {
      const auto trouble = follow();
      if (trouble && !is_stopping()) {
        if (trouble->code == kOnlyOnReplicaSets || trouble->code == kNotAllowed) {
          link_.options().logger.info("names that are waited for are looked at: " +
                                      trouble->message);
          mode_ = Mode::poll;
          continue;
        }
        link_.options().logger.warn("changes of MongoDB cannot be followed: " + trouble->message);
        pace_.failed();
        pause(pace_.next(base::random_u64()));
      }
      continue;
    }
    const auto found = look();
    if (!found) {
      link_.options().logger.warn("names that are waited for cannot be looked at: " +
                                  found.error().message);
      pace_.failed();
    } else if (*found) {
      pace_.found_something();
    } else {
      pace_.found_nothing(names_->all().size());
    }
    pause(pace_.next(base::random_u64()));
  }
}

std::optional<Trouble> Watchers::follow() {
  const auto client = Client::make(link_.address(), &stopping_);
  if (!client) {
    return Trouble{.message = client.error().message};
  }
  const base::Duration patience = link_.options().reply_timeout;
  const auto wait = std::chrono::ceil<milliseconds>(std::min(kChangesWait, patience / 2));
  auto reply = (*client)->read(requests_.watch(), after(patience));
  if (!reply) {
    return std::move(reply).error();
  }
  // From here on nothing is missed; what was before is not known.
  watches_.notify_all();
  pace_.found_something();
  const std::int64_t cursor = cursor_of(*reply);
  Deadline idle = after(kKeep);
  while (!is_stopping() && cursor != 0) {
    reply = (*client)->read(requests_.next_changes(cursor, wait), after(patience));
    if (!reply) {
      return std::move(reply).error();
    }
    tell(*reply);
    if (!names_->all().empty()) {
      idle = after(kKeep);
    } else if (idle.expired(base::steady_clock().now())) {
      break;
    }
  }
  return std::nullopt;
}

void Watchers::tell(const Bson& changes) const {
  for_each_document(changes, [&](const BsonValue& change) {
    const auto key = change.find("documentKey");
    const auto id = key ? key->find("_id") : std::nullopt;
    const auto text = id ? id->text() : std::nullopt;
    const auto name = text ? ids_.name_of(*text) : std::nullopt;
    if (name) {
      watches_.notify(*name, {});
    }
  });
}

Result<bool> Watchers::look() {
  const std::vector<std::string> names = names_->all();
  Bson ids;
  for (const std::string& name : names) {
    ids.push(ids_.id_of(name));
  }
  const auto batches = link_.read_batches(
      requests_.look(ids), [&](std::int64_t cursor) { return requests_.get_more(cursor); },
      after(link_.options().reply_timeout));
  if (!batches) {
    return std::unexpected(batches.error());
  }
  std::map<std::string, std::string, std::less<>> rooms;
  for (const std::string& name : names) {
    rooms.emplace(name, kNoDocument);
  }
  for (const Bson& batch : *batches) {
    for_each_document(batch, [&](const BsonValue& document) {
      const auto id = document.find("_id");
      const auto name = id ? ids_.name_of(id->text().value_or("")) : std::nullopt;
      if (name) {
        rooms[*name] = room_in(document);
      }
    });
  }
  bool found = false;
  for (const auto& [name, room] : rooms) {
    const auto before = seen_.find(name);
    if (!room.empty() && (before == seen_.end() || before->second != room)) {
      watches_.notify(name, {});
      found = true;
    }
  }
  seen_ = std::move(rooms);
  return found;
}

void Watchers::pause(base::Duration time) {
  const base::MutexLock guard(names_->mutex);
  const auto until = std::chrono::steady_clock::now() + time;
  while (!stopping_.load() &&
         names_->changed.wait_until(names_->mutex, until) == std::cv_status::no_timeout) {
  }
}

}  // namespace holdfast::engines::mongodb::internal
