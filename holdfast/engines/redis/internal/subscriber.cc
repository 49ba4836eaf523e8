#include <holdfast/engines/redis/internal/subscriber.h>

#include <system_error>
#include <utility>
#include <vector>

#include <holdfast/base/printable.h>
#include <holdfast/base/random.h>
#include <holdfast/base/saturate.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/redis/internal/connection/command.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::Result;

// The most reads of up to 64 KiB each (16 over TLS) without a pause. Ending the connection costs
// each waiter one poll.
constexpr int kMostReads = 1024;

base::TimePoint now() noexcept { return base::steady_clock().now(); }

}  // namespace

Subscriber::Subscriber(RedisOptions options, std::string channel, Callbacks callbacks,
                       std::shared_ptr<Route> route)
    : options_(std::move(options)),
      channel_(std::move(channel)),
      callbacks_(std::move(callbacks)),
      route_(std::move(route)) {}

Subscriber::Subscriber(const RedisOptions& options, std::string channel, Callbacks callbacks)
    : Subscriber(options, std::move(channel), std::move(callbacks), route_to(options)) {}

Subscriber::~Subscriber() {
  is_stopping_ = true;
  waker_.wake();
  if (thread_.joinable()) {
    thread_.join();
  }
}

Result<void> Subscriber::start(Deadline deadline) {
  const base::MutexLock lock(mutex_);
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
      return fail(ErrorCode::unavailable, std::string("there is no thread: ") + error.what());
    }
  }
  const std::uint64_t failures = failures_;
  while (!is_listening_ && failures_ == failures && !deadline.expired(now())) {
    if (deadline.is_never()) {
      changed_.wait(mutex_);
    } else {
      changed_.wait_for(mutex_, deadline.remaining(now()));
    }
  }
  if (is_listening_) {
    return {};
  }
  has_gap_ = true;
  return fail(ErrorCode::unavailable,
              last_failure_.empty() ? "the server did not confirm by the deadline" : last_failure_);
}

void Subscriber::reconnect() noexcept {
  is_to_reconnect_ = true;
  waker_.wake();
}

void Subscriber::move_to(const std::string& address) {
  {
    const base::MutexLock lock(mutex_);
    if (server_.empty()) {
      moved_to_ = address;
      return;
    }
    if (server_ == address) {
      return;
    }
  }
  reconnect();
}

bool Subscriber::is_listening() const {
  const base::MutexLock lock(mutex_);
  return is_listening_;
}

void Subscriber::run() {
  while (!is_stopping_) {
    if (const auto served = serve(); !served) {
      const Deadline pause = lost(served.error());
      while (!is_stopping_ && !pause.expired(now())) {
        waker_.sleep(nullptr, 0, pause);
      }
    }
  }
}

Result<void> Subscriber::serve() {
  is_to_reconnect_ = false;
  connected_at_.reset();
  pinged_.reset();
  HOLDFAST_TRY_LET(auto opened, route_->open(Deadline::never()));
  if (!note_server(std::move(opened.address))) {
    return fail(ErrorCode::unavailable, "another server is the master now");
  }
  const auto transport =
      std::make_unique<Transport>(std::move(opened.wire), ReplyLimits::for_messages());
  connected_at_ = transport->heard = now();
  HOLDFAST_TRY(write_all(transport->wire(), Command("SUBSCRIBE", channel_).bytes(),
                         Deadline::after(base::steady_clock(), options_.reply_timeout)));
  while (!is_stopping_) {
    if (is_to_reconnect_) {
      return fail(ErrorCode::unavailable,
                  "the server takes no commands now, or is no longer the master");
    }
    const auto got = read(*transport);
    callbacks_.on_idle();  // also after a failure: messages may have come before it
    HOLDFAST_TRY(got);
    HOLDFAST_TRY_LET(const Deadline next, check_silence(*transport));
    waker_.sleep(&transport->wire(), 0, next);
  }
  return {};
}

// Reads until nothing comes any more: what a wire has decrypted, no poll() would show. A server
// that sends faster than we read would keep us here for ever.
Result<void> Subscriber::read(Transport& transport) {
  for (int round = 0; round < kMostReads && !is_stopping_; ++round) {
    std::vector<Reply> replies;
    const auto got = transport.read(replies);
    for (const Reply& reply : replies) {
      HOLDFAST_TRY(handle(reply));
    }
    if (!got || !*got) {
      return got ? Result<void>() : std::unexpected(got.error());
    }
    if (transport.has_progressed()) {
      transport.heard = now();
      pinged_.reset();
    }
  }
  if (is_stopping_) {
    return {};
  }
  return fail(ErrorCode::unavailable, "the server sends more messages than can be read");
}

Result<void> Subscriber::handle(const Reply& reply) {
  if (reply.is_error()) {
    return fail(ErrorCode::unavailable,
                "the server does not let us listen: " + base::printable(reply.text()));
  }
  const std::vector<Reply>& parts = reply.elements();
  if (parts.size() < 3) {
    return {};  // the answer to a ping
  }
  if (parts[0].text() == "message") {
    callbacks_.on_message(parts[2].text());
  } else if (parts[0].text() == "subscribe") {
    base::MutexLock lock(mutex_);
    is_listening_ = true;
    last_failure_.clear();
    const bool had_gap = std::exchange(has_gap_, false);
    changed_.notify_all();
    lock.unlock();
    if (had_gap) {
      callbacks_.on_gap();
    }
  }
  return {};
}

// Asks a connection on which nothing comes for long whether it still is one. Returns when to check
// again.
Result<Deadline> Subscriber::check_silence(Transport& transport) {
  const auto due = [&] {
    return base::add_saturating(pinged_.value_or(transport.heard), options_.reply_timeout);
  };
  if (const base::TimePoint time = now(); time >= due()) {
    if (pinged_) {
      return fail(ErrorCode::unavailable, "the server has not answered for too long");
    }
    pinged_ = time;
    HOLDFAST_TRY(write_all(transport.wire(), Command("PING").bytes(), Deadline::at(due())));
  }
  return Deadline::at(due());
}

bool Subscriber::note_server(std::string address) {
  const base::MutexLock lock(mutex_);
  server_ = std::move(address);
  const std::string wanted = std::exchange(moved_to_, {});
  return wanted.empty() || wanted == server_;
}

// Returns when to try again. The pause grows until a connection has lasted: a server that lets us
// listen and takes no commands, such as a demoted master, is not asked again and again.
Deadline Subscriber::lost(const base::Error& error) {
  options_.logger.warn("the subscriber connection to Redis: " + error.message);
  if (connected_at_ && now() - *connected_at_ >= Backoff::kMost) {
    backoff_.reset();
  }
  const base::MutexLock lock(mutex_);
  is_listening_ = false;
  has_gap_ = true;
  server_.clear();
  ++failures_;
  last_failure_ = error.message;
  changed_.notify_all();
  return Deadline::after(base::steady_clock(), backoff_.next(base::random_u64()));
}

}  // namespace holdfast::engines::redis::internal
