#include <holdfast/engines/postgresql/internal/listener.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include <holdfast/base/random.h>
#include <holdfast/base/try.h>

namespace holdfast::engines::postgresql::internal {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::Result;

constexpr base::Duration kFirstPause = std::chrono::milliseconds(20);
constexpr base::Duration kMostPause = std::chrono::seconds(1);
// A pooler does not go away by itself.
constexpr base::Duration kPooledPause = std::chrono::seconds(30);

base::TimePoint now() noexcept { return base::steady_clock().now(); }

int make_event() {
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) {
    throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  return descriptor;
}

}  // namespace

Listener::Listener(Pool& pool, std::int64_t store, Callbacks callbacks)
    : pool_(pool),
      store_(store),
      callbacks_(std::move(callbacks)),
      stop_(make_event()),
      pause_(kFirstPause) {}

Listener::~Listener() {
  is_stopping_ = true;
  ::eventfd_write(stop_, 1);
  if (thread_.joinable()) {
    thread_.join();
  }
  ::close(stop_);
}

Result<void> Listener::start(Deadline deadline) {
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
    changed_.wait_for(mutex_,
                      std::min<base::Duration>(deadline.remaining(now()), std::chrono::hours(1)));
  }
  if (is_listening_) {
    return {};
  }
  has_gap_ = true;
  return fail(ErrorCode::unavailable,
              last_failure_.empty() ? "the server did not confirm by the deadline" : last_failure_);
}

void Listener::run() {
  while (!is_stopping_) {
    if (const auto served = serve(); !served) {
      pause(lost(served.error()));
    }
  }
}

// Ends with an error, or when the listener is to stop.
Connection::Outcome<void> Listener::serve() {
  const base::Duration patience = pool_.options().reply_timeout;
  const auto soon = [&] { return Deadline::after(base::steady_clock(), patience); };
  HOLDFAST_TRY_LET(auto fresh, pool_.connect(soon(), stop_));
  if (!fresh.greeting.is_direct) {
    return std::unexpected(
        Trouble{.message = "a pooler is between us and the server, so that nothing can be heard: "
                           "waiters poll"});
  }
  Connection& connection = *fresh.connection;
  if (auto listens = connection.run_all(Schema::listen(store_), soon()); !listens) {
    return listens;
  }
  began();
  Deadline ping = soon();
  while (!is_stopping_) {
    if (auto heard = connection.listen(callbacks_.on_message, ping); !heard) {
      return heard;
    }
    if (!is_stopping_ && ping.expired(now())) {
      HOLDFAST_TRY(
          connection.greet(pool_.schema().statements().hello, pool_.schema().records(), soon()));
      ping = soon();
    }
  }
  is_listening_ = false;
  return {};
}

void Listener::began() {
  base::MutexLock lock(mutex_);
  is_listening_ = true;
  last_failure_.clear();
  pause_ = kFirstPause;
  has_warned_ = false;
  const bool had_gap = std::exchange(has_gap_, false);
  changed_.notify_all();
  lock.unlock();
  if (had_gap) {
    callbacks_.on_gap();
  }
}

// Returns when to try again.
base::Duration Listener::lost(const Trouble& trouble) {
  if (!is_stopping_ && !std::exchange(has_warned_, true)) {
    pool_.options().logger.warn("the connection that listens to PostgreSQL: " + trouble.message);
  }
  const base::MutexLock lock(mutex_);
  is_listening_ = false;
  has_gap_ = true;
  ++failures_;
  last_failure_ = trouble.message;
  changed_.notify_all();
  if (pool_.is_pooled()) {
    return kPooledPause;
  }
  const base::Duration time = pause_;
  pause_ = std::min(pause_ * 2, kMostPause);
  return time / 2 + base::Duration(static_cast<base::Duration::rep>(
                        static_cast<double>(time.count()) / 2 * base::random_fraction()));
}

void Listener::pause(base::Duration time) const {
  pollfd descriptor{.fd = stop_, .events = POLLIN, .revents = 0};
  ::poll(&descriptor, 1,
         static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(time).count()));
}

}  // namespace holdfast::engines::postgresql::internal
