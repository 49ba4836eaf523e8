#include <holdfast/engines/redis/internal/subscriber.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/process_mark.h>
#include <holdfast/base/random.h>
#include <holdfast/base/saturate.h>
#include <holdfast/engines/redis/internal/link/backoff.h>
#include <holdfast/engines/redis/internal/link/command.h>
#include <holdfast/engines/redis/internal/link/connection.h>
#include <holdfast/engines/redis/internal/link/doorbell.h>
#include <holdfast/engines/redis/internal/link/greeting.h>
#include <holdfast/engines/redis/internal/subscriber_channels.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

}  // namespace

class Subscriber::Core {
 public:
  Core(RedisOptions options, Callbacks callbacks)
      : options_(std::move(options)), callbacks_(std::move(callbacks)) {}
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  Result<void> subscribe(std::string channel, base::Deadline deadline);
  void unsubscribe(std::string_view channel);
  bool is_listening() const;
  bool is_inherited() const noexcept { return process_.is_inherited(); }

 private:
  using Guard = std::unique_lock<std::mutex>;

  void listen();
  // Until the connection is lost: why, or success if it is to stop.
  Result<void> serve(Connection& connection);
  Result<void> tell_changes(Connection& connection);
  Result<void> handle(const Reply& reply);
  Result<void> await(Connection& connection);
  void close_gap();
  void lost(const base::Error& error);
  bool is_stopping() const;

  // Constant after construction.
  const RedisOptions options_;
  const Callbacks callbacks_;
  const base::ProcessMark process_;
  Doorbell doorbell_;  // rouses the thread

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Protected by mutex_.
  SubscriberChannels channels_;
  bool stopping_ = false;
  bool is_connected_ = false;
  bool has_gap_ = false;
  std::uint64_t failures_ = 0;
  std::string last_failure_;
  std::thread thread_;

  // The thread's.
  Backoff backoff_;
  bool has_pinged_ = false;
};

Subscriber::Core::~Core() {
  Guard guard(mutex_);
  stopping_ = true;
  guard.unlock();
  doorbell_.ring();
  if (thread_.joinable()) {
    thread_.join();
  }
}

Result<void> Subscriber::Core::subscribe(std::string channel, base::Deadline deadline) {
  Guard guard(mutex_);
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { listen(); });
    } catch (const std::system_error& error) {
      return fail(ErrorCode::unavailable, std::string("there is no thread: ") + error.what());
    }
  }
  channels_.want(channel);
  doorbell_.ring();
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

void Subscriber::Core::unsubscribe(std::string_view channel) {
  const Guard guard(mutex_);
  channels_.drop(channel);
  doorbell_.ring();
}

bool Subscriber::Core::is_listening() const {
  const Guard guard(mutex_);
  return is_connected_ && channels_.all_confirmed();
}

bool Subscriber::Core::is_stopping() const {
  const Guard guard(mutex_);
  return stopping_;
}

void Subscriber::Core::listen() {
  while (!is_stopping()) {
    auto wire = connect_and_greet(options_, base::Deadline::never());
    if (wire) {
      Connection connection(*std::move(wire));
      if (const auto served = serve(connection); !served) {
        lost(served.error());
      }
    } else {
      lost(wire.error());
    }
    const auto pause =
        base::Deadline::after(base::steady_clock(), backoff_.next(base::random_u64()));
    while (!is_stopping() && !pause.expired(base::steady_clock().now())) {
      pollfd ringing{.fd = doorbell_.descriptor(), .events = POLLIN, .revents = 0};
      if (poll_until({&ringing, 1}, pause)) {
        doorbell_.clear();
      }
    }
  }
}

void Subscriber::Core::lost(const base::Error& error) {
  options_.logger.warn("the listening connection to Redis: " + error.message);
  const Guard guard(mutex_);
  is_connected_ = false;
  has_gap_ = true;
  ++failures_;
  last_failure_ = error.message;
  channels_.forget_progress();
  changed_.notify_all();
}

Result<void> Subscriber::Core::serve(Connection& connection) {
  {
    const Guard guard(mutex_);
    is_connected_ = true;
  }
  has_pinged_ = false;
  connection.heard = base::steady_clock().now();
  std::vector<Reply> replies;
  while (!is_stopping()) {
    if (auto told = tell_changes(connection); !told) {
      return told;
    }
    const auto got = connection.read(replies);
    for (const Reply& reply : replies) {
      if (auto handled = handle(reply); !handled) {
        return handled;
      }
    }
    replies.clear();
    if (!got) {
      return std::unexpected(got.error());
    }
    if (*got) {
      connection.heard = base::steady_clock().now();
      has_pinged_ = false;
      close_gap();
    } else if (auto awaited = await(connection); !awaited) {
      return awaited;
    }
  }
  return {};
}

Result<void> Subscriber::Core::tell_changes(Connection& connection) {
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

// Sleeps until something comes, or is to be done. A connection on which nothing comes for long is
// asked whether it still is one.
Result<void> Subscriber::Core::await(Connection& connection) {
  const auto until = base::Deadline::at(
      base::add_saturating(connection.heard, options_.reply_timeout * (has_pinged_ ? 2 : 1)));
  const auto events = static_cast<short>(POLLIN | connection.wire().read_also_needs());
  std::array<pollfd, 2> descriptors{
      pollfd{.fd = connection.wire().descriptor(), .events = events, .revents = 0},
      pollfd{.fd = doorbell_.descriptor(), .events = POLLIN, .revents = 0}};
  if (poll_until(descriptors, until)) {
    if (descriptors[1].revents != 0) {
      doorbell_.clear();
    }
    return {};
  }
  if (std::exchange(has_pinged_, true)) {
    return fail(ErrorCode::unavailable, "the server has not answered for too long");
  }
  return write_all(connection.wire(), Command("PING").bytes(),
                   base::Deadline::after(base::steady_clock(), options_.reply_timeout));
}

Result<void> Subscriber::Core::handle(const Reply& reply) {
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

void Subscriber::Core::close_gap() {
  Guard guard(mutex_);
  if (!channels_.all_confirmed()) {
    return;
  }
  backoff_.reset();
  last_failure_.clear();
  const bool had_gap = std::exchange(has_gap_, false);
  guard.unlock();
  if (had_gap) {
    callbacks_.on_gap();
  }
}

Subscriber::Subscriber(RedisOptions options, Callbacks callbacks)
    : core_(std::make_unique<Core>(std::move(options), std::move(callbacks))) {}

Subscriber::~Subscriber() {
  if (core_->is_inherited()) {
    // Its thread does not exist in the child, and may have left it in any state.
    (void)core_.release();
  }
}

Result<void> Subscriber::subscribe(std::string channel, base::Deadline deadline) {
  if (core_->is_inherited()) {
    return fail(ErrorCode::unsupported,
                "this subscriber belongs to the process that this one was forked from");
  }
  return core_->subscribe(std::move(channel), deadline);
}

void Subscriber::unsubscribe(std::string_view channel) {
  if (!core_->is_inherited()) {
    core_->unsubscribe(channel);
  }
}

bool Subscriber::is_listening() const { return !core_->is_inherited() && core_->is_listening(); }

}  // namespace holdfast::engines::redis::internal
