#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>

#include "apps/holdfast/serve/listen_address.h"
#include "apps/holdfast/serve/message.h"

namespace holdfast::cli::serve {

struct HttpOptions {
  ListenAddress address{};
  // Files with a certificate chain and its key, for HTTPS; both or none.
  std::string certificate{};
  std::string key{};
  std::vector<std::pair<std::string, std::string>> headers{};  // of every response

  // Beyond that, the connection that has been idle for longest is closed.
  std::size_t most_connections = 4000;
  // Beyond these, 503.
  std::size_t most_streams = 256;
  std::size_t most_work = 32;
  // Beyond these, 431 and 413.
  std::uint32_t most_header = 16U << 10U;
  std::uint32_t most_body = 8U << 10U;
  base::Duration idle_time = std::chrono::seconds(60);     // between two requests
  base::Duration request_time = std::chrono::seconds(10);  // for the whole of a request
  base::Duration write_time = std::chrono::seconds(10);    // until a client has read a response
  base::Duration heartbeat = std::chrono::seconds(15);     // of a stream without events
};

struct HttpStats {
  std::uint64_t connections = 0;  // open now
  std::uint64_t streams = 0;      // open now
  std::uint64_t accepted = 0;
  std::uint64_t evicted = 0;    // idle ones closed for new ones
  std::uint64_t timed_out = 0;  // clients that were too slow
  std::uint64_t failed = 0;     // connections that ended by a defect, or for want of memory
  std::uint64_t responses_2xx = 0;
  std::uint64_t responses_3xx = 0;
  std::uint64_t responses_4xx = 0;
  std::uint64_t responses_5xx = 0;
};

// An HTTP/1.1 server of one thread, with two more for work that blocks. Every size and every time
// of a client is bounded.
//
// Thread-safe. stop() ends its threads; work that is under way is waited for.
class HttpServer {
 public:
  // Called in the server's one thread, so it must be quick: what blocks is returned as Work.
  using Handler = std::function<Answer(const Request&)>;
  using NewestEvent = std::function<Event()>;

  // Binds the address. Nothing is answered before start().
  [[nodiscard]] static base::Result<std::unique_ptr<HttpServer>> open(const HttpOptions& options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void start(Handler handler, NewestEvent newest);
  void stop();

  [[nodiscard]] std::uint16_t port() const;
  // Sends the newest event to all streams.
  void publish();
  [[nodiscard]] HttpStats stats() const;

 private:
  class Loop;
  explicit HttpServer(std::unique_ptr<Loop> loop);

  const std::unique_ptr<Loop> loop_;
};

}  // namespace holdfast::cli::serve
