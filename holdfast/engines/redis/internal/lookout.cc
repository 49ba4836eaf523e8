#include <holdfast/engines/redis/internal/lookout.h>

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace holdfast::engines::redis::internal {

namespace {

using base::Result;

static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT);

int make_epoll() {
  const int descriptor = ::epoll_create1(EPOLL_CLOEXEC);
  if (descriptor < 0) {
    throw std::system_error(errno, std::generic_category(), "epoll_create1");
  }
  return descriptor;
}

short events_of(Connection& connection) noexcept {
  return static_cast<short>(POLLIN | connection.wire().read_also_needs());
}

}  // namespace

Lookout::Lookout(Work read) : read_(std::move(read)), shown_to_host_(make_epoll()) {}

Lookout::~Lookout() { ::close(shown_to_host_); }

Result<void> Lookout::open(std::unique_ptr<Wire> wire) {
  const Guard guard(mutex_);
  connection_ = std::make_shared<Connection>(std::move(wire), ReplyLimits::for_messages());
  connection_->heard = base::steady_clock().now();
  epoll_event event{.events = shown_events_ = EPOLLIN, .data = {}};
  if (::epoll_ctl(shown_to_host_, EPOLL_CTL_ADD, connection_->wire().descriptor(), &event) != 0) {
    return std::unexpected(connection_failed(errno));
  }
  return read_(*connection_);
}

Result<void> Lookout::work(const Work& work) {
  const Guard guard(mutex_);
  if (failure_) {
    return std::unexpected(*failure_);
  }
  auto worked = work(*connection_);
  if (guests_ != connection_) {
    show_host(static_cast<std::uint32_t>(events_of(*connection_)));
  }
  return worked;
}

void Lookout::close() noexcept {
  const Guard guard(mutex_);
  // Not left to the closing of the socket: a guest, or a forked child, may keep that open.
  ::epoll_ctl(shown_to_host_, EPOLL_CTL_DEL, connection_->wire().descriptor(), nullptr);
  connection_.reset();
  failure_.reset();
  if (guests_ != nullptr) {
    guest_roused_.ring();
  }
}

void Lookout::sleep(base::Deadline deadline) noexcept {
  std::array<pollfd, 2> descriptors{
      pollfd{.fd = shown_to_host_, .events = POLLIN, .revents = 0},
      pollfd{.fd = host_roused_.descriptor(), .events = POLLIN, .revents = 0}};
  if (poll_until(descriptors, deadline) && descriptors[1].revents != 0) {
    host_roused_.clear();
  }
}

void Lookout::show_host(std::uint32_t events) noexcept {
  if (std::exchange(shown_events_, events) != events) {
    epoll_event event{.events = events, .data = {}};
    ::epoll_ctl(shown_to_host_, EPOLL_CTL_MOD, connection_->wire().descriptor(), &event);
  }
}

bool Lookout::begin() noexcept {
  if (process_.is_inherited()) {
    return false;
  }
  const Guard guard(mutex_, std::try_to_lock);
  if (!guard || guests_ != nullptr || connection_ == nullptr || failure_) {
    return false;
  }
  guests_ = connection_;
  show_host(0);
  return true;
}

bool Lookout::hear(base::Deadline deadline) {
  std::array<pollfd, 2> descriptors{
      pollfd{.fd = guests_->wire().descriptor(), .events = events_of(*guests_), .revents = 0},
      pollfd{.fd = guest_roused_.descriptor(), .events = POLLIN, .revents = 0}};
  if (!poll_until(descriptors, deadline)) {
    return true;
  }
  if (descriptors[1].revents != 0) {
    guest_roused_.clear();
  }
  const Guard guard(mutex_);
  if (guests_ != connection_) {
    return false;
  }
  if (descriptors[0].revents == 0) {
    return true;
  }
  if (auto done = read_(*connection_); !done) {
    failure_ = std::move(done).error();
    rouse_host();
    return false;
  }
  return true;
}

void Lookout::end() noexcept {
  const Guard guard(mutex_);
  if (guests_ == connection_) {
    show_host(static_cast<std::uint32_t>(events_of(*connection_)));
  }
  guests_.reset();
}

void Lookout::rouse() noexcept {
  if (!process_.is_inherited()) {
    guest_roused_.ring();
  }
}

}  // namespace holdfast::engines::redis::internal
