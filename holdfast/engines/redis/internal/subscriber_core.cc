#include <holdfast/engines/redis/internal/subscriber_core.h>

#include <system_error>
#include <utility>
#include <vector>

#include <holdfast/base/printable.h>
#include <holdfast/base/random.h>
#include <holdfast/base/saturate.h>
#include <holdfast/engines/redis/internal/link/command.h>
#include <holdfast/engines/redis/internal/link/greeting.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// Of up to 64 KiB each (16 over TLS), without a pause. To end the connection costs those who wait
// one look each.
constexpr int kMostReads = 1024;

}  // namespace

SubscriberCore::SubscriberCore(RedisOptions options, Subscriber::Callbacks callbacks)
    : options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      lookout_([this](Connection& connection) { return read(connection); }) {}

SubscriberCore::~SubscriberCore() {
  Guard guard(mutex_);
  stopping_ = true;
  guard.unlock();
  lookout_.rouse_host();
  if (thread_.joinable()) {
    thread_.join();
  }
}

Result<void> SubscriberCore::subscribe(std::string channel, base::Deadline deadline) {
  Guard guard(mutex_);
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
      return fail(ErrorCode::unavailable, std::string("there is no thread: ") + error.what());
    }
  }
  channels_.want(channel);
  lookout_.rouse_host();
  const std::uint64_t failures = failures_;
  const auto is_decided = [&] { return channels_.is_confirmed(channel) || failures_ != failures; };
  if (deadline.is_never()) {
    changed_.wait(guard, is_decided);
  } else {
    changed_.wait_for(guard, deadline.remaining(base::steady_clock().now()), is_decided);
  }
  if (channels_.is_confirmed(channel)) {
    return {};
  }
  has_gap_ = true;
  return fail(ErrorCode::unavailable,
              last_failure_.empty() ? "the server did not confirm by the deadline" : last_failure_);
}

void SubscriberCore::unsubscribe(std::string_view channel) {
  const Guard guard(mutex_);
  channels_.drop(channel);
  lookout_.rouse_host();
}

bool SubscriberCore::is_listening() const {
  const Guard guard(mutex_);
  return is_connected_ && channels_.all_confirmed();
}

void SubscriberCore::reconnect() noexcept {
  is_to_reconnect_ = true;
  lookout_.rouse_host();
}

bool SubscriberCore::is_stopping() const {
  const Guard guard(mutex_);
  return stopping_;
}

void SubscriberCore::run() {
  while (!is_stopping()) {
    if (const auto served = serve(); !served) {
      const base::Deadline pause = lost(served.error());
      while (!is_stopping() && !pause.expired(base::steady_clock().now())) {
        lookout_.sleep(pause);
      }
    }
  }
}

// Returns when to try again. The pause grows until a connection has lasted: a server that lets us
// listen and takes no commands, such as a demoted master, is not asked again and again.
base::Deadline SubscriberCore::lost(const base::Error& error) {
  options_.logger.warn("the listening connection to Redis: " + error.message);
  const Guard guard(mutex_);
  if (is_connected_ && base::steady_clock().now() - connected_at_ >= Backoff::kMost) {
    backoff_.reset();
  }
  is_connected_ = false;
  has_gap_ = true;
  ++failures_;
  last_failure_ = error.message;
  channels_.forget_progress();
  changed_.notify_all();
  return base::Deadline::after(base::steady_clock(), backoff_.next(base::random_u64()));
}

Result<void> SubscriberCore::serve() {
  is_to_reconnect_ = false;
  auto wire = connect_and_greet(options_, base::Deadline::never());
  if (!wire) {
    return std::unexpected(std::move(wire).error());
  }
  {
    const Guard guard(mutex_);
    is_connected_ = true;
    connected_at_ = base::steady_clock().now();
  }
  pinged_.reset();
  auto served = lookout_.open(*std::move(wire));
  if (served) {
    served = converse();
  }
  lookout_.close();
  return served;
}

Result<void> SubscriberCore::converse() {
  while (!is_stopping()) {
    if (is_to_reconnect_) {
      return fail(ErrorCode::unavailable, "the server takes no commands now");
    }
    auto next = base::Deadline::never();
    auto worked = lookout_.work([&](Connection& connection) -> Result<void> {
      if (auto told = tell_changes(connection); !told) {
        return told;
      }
      if (auto heard = read(connection); !heard) {
        return heard;
      }
      return see_to_silence(connection, next);
    });
    if (!worked) {
      return worked;
    }
    callbacks_.chores();
    lookout_.sleep(next);
  }
  return {};
}

Result<void> SubscriberCore::tell_changes(Connection& connection) {
  Guard guard(mutex_);
  const SubscriberChannels::Changes changes = channels_.take_changes();
  guard.unlock();
  std::string bytes;
  for (const std::string& channel : changes.unsubscribe) {
    bytes += Command("UNSUBSCRIBE", channel).bytes();
  }
  for (const std::string& channel : changes.subscribe) {
    bytes += Command("SUBSCRIBE", channel).bytes();
  }
  return write_all(connection.wire(), bytes,
                   base::Deadline::after(base::steady_clock(), options_.reply_timeout));
}

// A connection on which nothing comes for long is asked whether it still is one. `next` is when to
// see to it again.
Result<void> SubscriberCore::see_to_silence(Connection& connection, base::Deadline& next) {
  const base::TimePoint now = base::steady_clock().now();
  const auto due = [&] {
    return base::add_saturating(pinged_.value_or(connection.heard), options_.reply_timeout);
  };
  if (now >= due()) {
    if (pinged_) {
      return fail(ErrorCode::unavailable, "the server has not answered for too long");
    }
    pinged_ = now;
    if (auto asked =
            write_all(connection.wire(), Command("PING").bytes(), base::Deadline::at(due()));
        !asked) {
      return asked;
    }
  }
  next = base::Deadline::at(due());
  return {};
}

// A server that sends faster than we read would keep us here for ever.
Result<void> SubscriberCore::read(Connection& connection) {
  for (int round = 0; round < kMostReads; ++round) {
    if (is_stopping()) {
      return {};
    }
    std::vector<Reply> replies;
    const auto got = connection.read(replies);
    for (const Reply& reply : replies) {
      if (auto handled = handle(reply); !handled) {
        return handled;
      }
    }
    if (!got) {
      return std::unexpected(got.error());
    }
    if (!*got) {
      return {};
    }
    if (connection.has_progressed()) {
      connection.heard = base::steady_clock().now();
      pinged_.reset();
      close_gap();
    }
  }
  return fail(ErrorCode::unavailable, "the server sends more messages than can be read");
}

Result<void> SubscriberCore::handle(const Reply& reply) {
  if (reply.is_error()) {
    return fail(ErrorCode::unavailable,
                "the server does not let us listen: " + base::printable(reply.text()));
  }
  const std::vector<Reply>& parts = reply.elements();
  if (parts.size() < 3) {
    return {};  // the answer to a ping
  }
  if (parts[0].text() == "message") {
    callbacks_.on_message(parts[1].text(), parts[2].text());
  } else if (parts[0].text() == "subscribe") {
    const Guard guard(mutex_);
    channels_.confirm(parts[1].text());
    changed_.notify_all();
  }
  return {};
}

void SubscriberCore::close_gap() {
  Guard guard(mutex_);
  if (!channels_.all_confirmed()) {
    return;
  }
  last_failure_.clear();
  const bool had_gap = std::exchange(has_gap_, false);
  guard.unlock();
  if (had_gap) {
    callbacks_.on_gap();
  }
}

}  // namespace holdfast::engines::redis::internal
