#include <holdfast/engines/mongodb/internal/socket_stream.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <expected>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <netdb.h>

namespace holdfast::engines::mongodb::internal {

namespace {

using std::chrono::milliseconds;

// The driver knows its own kinds by small numbers.
constexpr int kStreamType = 0x4846;
// The longest part of a wait before it checks for a stop.
constexpr base::Duration kSlice = milliseconds(50);

struct SocketStream {
  mongoc_stream_t base;  // first: the driver's pointer is ours
  int descriptor;        // negative: there is no connection, and every call fails
  Patience* patience;
  int last_error;
};

SocketStream& self(mongoc_stream_t* stream) { return *reinterpret_cast<SocketStream*>(stream); }

bool would_block(int error) { return error == EAGAIN; }

int round_up(base::Duration time) {
  constexpr base::Duration kMost = std::chrono::hours(1);
  return static_cast<int>(
      std::chrono::ceil<milliseconds>(std::clamp(time, base::Duration::zero(), kMost)).count());
}

// The driver's own limit: milliseconds, negative for none.
base::Deadline limit_of(std::int32_t timeout) {
  return timeout < 0 ? base::Deadline::never()
                     : base::Deadline::after(base::steady_clock(), milliseconds(timeout));
}

// Waits until the descriptors are ready, the limit, or the end of patience; how many are ready.
int poll_patiently(pollfd* descriptors, std::size_t count, base::Deadline limit,
                   const Patience& patience) {
  const base::Deadline until = std::min(limit, patience.deadline);
  for (;;) {
    base::Duration wait = until.remaining(base::steady_clock().now());
    if (patience.stop != nullptr) {
      wait = patience.is_over() ? base::Duration::zero() : std::min(wait, kSlice);
    }
    const int ready = ::poll(descriptors, count, round_up(wait));
    if (ready > 0 || (ready < 0 && errno != EINTR)) {
      return ready;
    }
    if (patience.is_over() || limit.expired(base::steady_clock().now())) {
      return 0;
    }
  }
}

bool await(SocketStream& stream, short events, base::Deadline limit) {
  pollfd descriptor{.fd = stream.descriptor, .events = events, .revents = 0};
  return poll_patiently(&descriptor, 1, limit, *stream.patience) > 0;
}

int close_stream(mongoc_stream_t* base) {
  SocketStream& stream = self(base);
  if (stream.descriptor >= 0) {
    ::close(stream.descriptor);
    stream.descriptor = -1;
  }
  return 0;
}

void destroy(mongoc_stream_t* base) {
  close_stream(base);
  delete &self(base);
}

int flush(mongoc_stream_t*) { return 0; }

// Leaves out of the vector what has been done already.
void advance(std::vector<iovec>& parts, std::size_t done) {
  while (done > 0 && !parts.empty()) {
    iovec& first = parts.front();
    const std::size_t step = std::min(done, first.iov_len);
    first.iov_base = static_cast<char*>(first.iov_base) + step;
    first.iov_len -= step;
    done -= step;
    if (first.iov_len == 0) {
      parts.erase(parts.begin());
    }
  }
}

std::vector<iovec> parts_of(const mongoc_iovec_t* vector, std::size_t count) {
  std::vector<iovec> parts;
  for (std::size_t i = 0; i < count; ++i) {
    if (vector[i].iov_len > 0) {
      parts.push_back({.iov_base = vector[i].iov_base, .iov_len = vector[i].iov_len});
    }
  }
  return parts;
}

ssize_t failed_with(SocketStream& stream, int error) {
  stream.last_error = error;
  errno = error;
  return -1;
}

// Moves bytes until `least` are through. `step` is one attempt, which does not wait.
template <class Step>
ssize_t transfer(SocketStream& stream, mongoc_iovec_t* vector, std::size_t count, std::size_t least,
                 std::int32_t timeout, short events, const Step& step) {
  const base::Deadline limit = limit_of(timeout);
  std::vector<iovec> parts = parts_of(vector, count);
  std::size_t moved = 0;
  stream.last_error = 0;
  while (!parts.empty()) {
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t done = step(stream.descriptor, message);
    if (done > 0) {
      moved += static_cast<std::size_t>(done);
      advance(parts, static_cast<std::size_t>(done));
      if (moved >= least) {
        break;
      }
      continue;
    }
    if (done == 0) {  // the other side has closed it
      return moved >= least ? static_cast<ssize_t>(moved) : failed_with(stream, ECONNRESET);
    }
    if (errno == EINTR) {
      continue;
    }
    if (!would_block(errno)) {
      return failed_with(stream, errno);
    }
    if (moved >= least && (least > 0 || timeout == 0)) {
      stream.last_error = EAGAIN;
      break;
    }
    if (!await(stream, events, limit)) {
      return failed_with(stream, ETIMEDOUT);
    }
  }
  return static_cast<ssize_t>(moved);
}

ssize_t writev(mongoc_stream_t* base, mongoc_iovec_t* vector, std::size_t count,
               std::int32_t timeout) {
  std::size_t all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    all += vector[i].iov_len;
  }
  return transfer(self(base), vector, count, all, timeout, POLLOUT,
                  [](int descriptor, const msghdr& message) {
                    return ::sendmsg(descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
                  });
}

ssize_t readv(mongoc_stream_t* base, mongoc_iovec_t* vector, std::size_t count, std::size_t least,
              std::int32_t timeout) {
  Patience& patience = *self(base).patience;
  return transfer(self(base), vector, count, least, timeout, POLLIN,
                  [&patience](int descriptor, msghdr& message) -> ssize_t {
                    const ssize_t got = ::recvmsg(descriptor, &message, MSG_DONTWAIT);
                    if (got > 0 && static_cast<std::size_t>(got) > patience.bytes_left) {
                      patience.bytes_left = 0;
                      errno = EMSGSIZE;
                      return -1;
                    }
                    patience.bytes_left -= static_cast<std::size_t>(std::max<ssize_t>(got, 0));
                    return got;
                  });
}

int set_option(mongoc_stream_t* base, int level, int name, void* value, mongoc_socklen_t size) {
  return ::setsockopt(self(base).descriptor, level, name, value, size);
}

bool check_closed(mongoc_stream_t* base) {
  char byte = 0;
  const ssize_t got = ::recv(self(base).descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && !would_block(errno));
}

// The streams are of one client, and share its patience. When that is over they all count as
// broken, or the driver would go on asking until its own time-out. Those without a connection are
// reported at once.
ssize_t poll_streams(mongoc_stream_poll_t* streams, std::size_t count, std::int32_t timeout) {
  std::vector<pollfd> descriptors;
  for (std::size_t i = 0; i < count; ++i) {
    descriptors.push_back({.fd = self(streams[i].stream).descriptor,
                           .events = static_cast<short>(streams[i].events),
                           .revents = 0});
  }
  if (count == 0) {
    return 0;
  }
  const auto broken =
      std::ranges::count_if(descriptors, [](const pollfd& each) { return each.fd < 0; });
  const Patience& patience = *self(streams[0].stream).patience;
  const base::Deadline limit = limit_of(broken > 0 ? 0 : timeout);
  const int ready = poll_patiently(descriptors.data(), count, limit, patience);
  if (ready < 0) {
    return ready;
  }
  const bool is_over = ready == 0 && broken == 0 && patience.is_over();
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_broken = is_over || descriptors[i].fd < 0;
    streams[i].revents = is_broken ? POLLERR : descriptors[i].revents;
  }
  return is_over ? static_cast<ssize_t>(count) : ready + broken;
}

bool timed_out(mongoc_stream_t* base) { return self(base).last_error == ETIMEDOUT; }

bool should_retry(mongoc_stream_t* base) { return would_block(self(base).last_error); }

mongoc_stream_t* make_stream(int descriptor, Patience& patience) {
  auto stream = std::make_unique<SocketStream>();
  stream->base.type = kStreamType;
  stream->base.destroy = destroy;
  stream->base.close = close_stream;
  stream->base.flush = flush;
  stream->base.writev = writev;
  stream->base.readv = readv;
  stream->base.setsockopt = set_option;
  stream->base.check_closed = check_closed;
  stream->base.poll = poll_streams;
  stream->base.failed = destroy;
  stream->base.timed_out = timed_out;
  stream->base.should_retry = should_retry;
  stream->descriptor = descriptor;
  stream->patience = &patience;
  return &stream.release()->base;
}

// A connected descriptor; or -1 and why, through errno.
int connect_to(const sockaddr* address, socklen_t size, base::Deadline limit,
               const Patience& patience) {
  const int descriptor =
      ::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) {
    return -1;
  }
  int error = ::connect(descriptor, address, size) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
    error = ETIMEDOUT;
    if (poll_patiently(&ready, 1, limit, patience) > 0) {
      socklen_t length = sizeof error;
      ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
    }
  }
  if (error != 0) {
    ::close(descriptor);
    errno = error;
    return -1;
  }
  const int yes = 1;  // does nothing, and no harm, on a unix socket
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  return descriptor;
}

int connect_unix(const char* path, base::Deadline limit, const Patience& patience) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  std::memcpy(address.sun_path, path, std::strlen(path) + 1);
  return connect_to(reinterpret_cast<const sockaddr*>(&address), sizeof address, limit, patience);
}

// A connected descriptor, or why there is none.
std::expected<int, std::string> connect_host(const mongoc_host_list_t& host, base::Deadline limit,
                                             const Patience& patience) {
  if (patience.is_over()) {
    return std::unexpected("there is no time left");
  }
  int descriptor = -1;
  if (host.family == AF_UNIX) {
    descriptor = connect_unix(host.host, limit, patience);
  } else {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const std::string port = std::to_string(host.port);
    if (const int failed = ::getaddrinfo(host.host, port.c_str(), &hints, &found); failed != 0) {
      return std::unexpected(::gai_strerror(failed));
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
    for (const addrinfo* each = found; each != nullptr && descriptor < 0; each = each->ai_next) {
      descriptor = connect_to(each->ai_addr, each->ai_addrlen, limit, patience);
    }
  }
  if (descriptor < 0) {
    return std::unexpected(std::generic_category().message(errno));
  }
  return descriptor;
}

}  // namespace

mongoc_stream_t* broken_stream(Patience& patience) { return make_stream(-1, patience); }

mongoc_stream_t* connect_stream(const mongoc_host_list_t& host, base::Duration connect_timeout,
                                Patience& patience, std::string& failure) {
  const auto limit = base::Deadline::after(base::steady_clock(), connect_timeout);
  const auto descriptor = connect_host(host, limit, patience);
  if (!descriptor) {
    failure = std::string("cannot connect to ") + host.host_and_port + ": " + descriptor.error();
    return broken_stream(patience);
  }
  return make_stream(*descriptor, patience);
}

}  // namespace holdfast::engines::mongodb::internal
