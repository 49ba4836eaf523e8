#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <thread>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "apps/holdfast/serve/http_conversation.h"
#include "apps/holdfast/serve/http_server.h"

namespace holdfast::cli::serve {

namespace {

using asio::ip::tcp;
using Error = boost::system::error_code;

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);

// Allows as many descriptors as this process may have. Returns how many that are.
std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return 0;
  }
  const rlim_t before = limit.rlim_cur;
  constexpr rlim_t kEnough = 65'536;
  limit.rlim_cur = std::max(before, std::min(limit.rlim_max, kEnough));
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

}  // namespace

class HttpServer::Loop {
 public:
  explicit Loop(const HttpOptions& options) : room_(options), acceptor_(room_.io) {}
  ~Loop() { stop(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  base::Result<void> bind() {
    // Beside the connections: the store, standard streams, threads.
    constexpr std::size_t kOthers = 100;
    const std::size_t descriptors = raise_descriptor_limit();
    most_connections_ = std::min(room_.options.most_connections,
                                 std::max<std::size_t>(descriptors, 2 * kOthers) - kOthers);
    try {
      if (!room_.options.certificate.empty()) {
        tls_.emplace(asio::ssl::context::tls_server);
        tls_->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                          asio::ssl::context::no_tlsv1_1);
        tls_->use_certificate_chain_file(room_.options.certificate);
        tls_->use_private_key_file(room_.options.key, asio::ssl::context::pem);
      }
    } catch (const boost::system::system_error& error) {
      return base::fail(
          base::ErrorCode::invalid_argument,
          fmt::format("cannot use the certificate {} with the key {}: {}",
                      room_.options.certificate, room_.options.key, error.code().message()));
    }
    const ListenAddress& address = room_.options.address;
    try {
      const tcp::endpoint endpoint(asio::ip::make_address(address.host), address.port);
      acceptor_.open(endpoint.protocol());
      acceptor_.set_option(tcp::acceptor::reuse_address(true));
      acceptor_.bind(endpoint);
      acceptor_.listen();
      port_ = acceptor_.local_endpoint().port();
    } catch (const boost::system::system_error& error) {
      return base::fail(base::ErrorCode::unavailable,
                        fmt::format("cannot listen on {}:{}: {}: choose another address with "
                                    "--listen",
                                    address.url_host(), address.port, error.code().message()));
    }
    return {};
  }

  void start(Handler handler, NewestEvent newest) {
    room_.handler = std::move(handler);
    room_.newest = std::move(newest);
    asio::co_spawn(room_.io, accept(), [this](const std::exception_ptr& error) { end(error); });
    thread_ = std::thread([this] { room_.io.run(); });
  }

  // Work that waits for its turn is not begun. It is not left in the pool either: it would end
  // after the connections that it belongs to.
  void stop() {
    room_.stops = true;
    room_.io.stop();
    if (thread_.joinable()) {
      thread_.join();
    }
    room_.pool.join();
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

  void publish() {
    asio::post(room_.io, [this] {
      for (HttpRoom::Waiting* const stream : room_.streams) {
        stream->due = true;
        stream->timer.cancel();
      }
    });
  }

  [[nodiscard]] HttpStats stats() const {
    const base::MutexLock lock(room_.stats_mutex);
    return room_.stats;
  }

 private:
  asio::awaitable<void> accept() {
    for (;;) {
      try {
        co_await accept_one();
      } catch (const std::exception&) {
        end(std::current_exception());  // no memory for this connection; there may be for the next
      }
    }
  }

  asio::awaitable<void> accept_one() {
    if (room_.connections >= most_connections_) {
      evict();
    }
    auto [error, socket] = co_await acceptor_.async_accept(kNoThrow);
    if (error) {
      // No descriptor is left, or no memory: those of idle connections help.
      evict();
      asio::steady_timer pause(room_.io, std::chrono::milliseconds(100));
      co_await pause.async_wait(kNoThrow);
      co_return;
    }
    Error ignored;  // it is only slower without
    socket.set_option(tcp::no_delay(true), ignored);
    asio::co_spawn(room_.io, converse(std::move(socket)),
                   [this](const std::exception_ptr& failed) { end(failed); });
  }

  void evict() {
    if (!room_.idle.empty()) {
      room_.idle.front()->close();
      room_.count([](HttpStats& stats) { ++stats.evicted; });
    }
  }

  asio::awaitable<void> converse(tcp::socket socket) {
    const Counted one(room_.connections);
    room_.count([this](HttpStats& stats) {
      ++stats.accepted;
      stats.connections = room_.connections;
    });
    beast::tcp_stream stream(std::move(socket));
    if (tls_) {
      asio::ssl::stream<beast::tcp_stream> secure(std::move(stream), *tls_);
      beast::tcp_stream& below = beast::get_lowest_layer(secure);
      below.expires_after(room_.options.request_time);
      const auto [error] =
          co_await secure.async_handshake(asio::ssl::stream_base::server, kNoThrow);
      if (!error) {
        co_await HttpConversation(secure, room_).run();
        below.expires_after(std::chrono::seconds(2));
        co_await secure.async_shutdown(kNoThrow);
      }
    } else {
      co_await HttpConversation(stream, room_).run();
    }
  }

  // A connection that failed by an exception, of no memory, is closed; the others go on.
  void end(const std::exception_ptr& error) {
    room_.count([&](HttpStats& stats) {
      stats.connections = room_.connections;
      stats.streams = room_.streams.size();
      stats.failed += error ? 1U : 0U;
    });
  }

  HttpRoom room_;
  tcp::acceptor acceptor_;
  std::optional<asio::ssl::context> tls_;
  std::size_t most_connections_ = 0;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
HttpServer::~HttpServer() = default;

base::Result<std::unique_ptr<HttpServer>> HttpServer::open(const HttpOptions& options) {
  auto loop = std::make_unique<Loop>(options);
  if (auto bound = loop->bind(); !bound) {
    return std::unexpected(std::move(bound).error());
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(loop)));
}

void HttpServer::start(Handler handler, NewestEvent newest) {
  loop_->start(std::move(handler), std::move(newest));
}

void HttpServer::stop() { loop_->stop(); }
std::uint16_t HttpServer::port() const { return loop_->port(); }
void HttpServer::publish() { loop_->publish(); }
HttpStats HttpServer::stats() const { return loop_->stats(); }

}  // namespace holdfast::cli::serve
