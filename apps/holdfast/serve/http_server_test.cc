#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/patience.h>

#include "apps/holdfast/serve/http_server.h"
#include "apps/holdfast/tests/http_client.h"

namespace holdfast::cli::serve {

namespace {

using namespace std::chrono_literals;
using testing::get;
using testing::HttpClient;
using tests::eventually;

class HttpServerTest : public ::testing::Test {
 protected:
  void start(HttpOptions options, HttpServer::Handler handler = {}) {
    options.address.host = "127.0.0.1";
    server_ = base::value_or_throw(HttpServer::open(options));
    if (!handler) {
      handler = [](const Request& request) {
        return Response{.body = request.target, .headers = {}};
      };
    }
    server_->start(std::move(handler),
                   [this] { return Event{.version = version_, .data = std::to_string(version_)}; });
  }
  [[nodiscard]] std::uint16_t port() const { return server_->port(); }

  std::atomic<std::uint64_t> version_ = 1;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, RequestsOfOneConnectionAreAnsweredInTheirOrder) {
  start({});
  HttpClient client(port());
  client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.read().body, "/1");
  EXPECT_EQ(client.read().body, "/2");
  client.send("HEAD /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(client.is_closed());
}

TEST_F(HttpServerTest, AClientThatSendsItsRequestSlowlyIsDropped) {
  start({.request_time = 300ms});
  HttpClient client(port());
  // Byte by byte: what counts is the time of the whole request.
  const std::string bytes = "GET /" + std::string(10'000, 'x');
  for (const char byte : bytes) {
    if (!client.send(std::string(1, byte))) {
      break;
    }
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(client.is_closed());
  EXPECT_TRUE(eventually([&] { return server_->stats().timed_out == 1; }));
}

TEST_F(HttpServerTest, AClientThatIsSilentIsDropped) {
  start({.idle_time = 100ms});
  HttpClient client(port());
  EXPECT_TRUE(client.is_closed());
  EXPECT_TRUE(eventually([&] { return server_->stats().timed_out == 1; }));
}

TEST_F(HttpServerTest, AClientThatDoesNotReadIsDropped) {
  start({.write_time = 200ms}, [](const Request&) {
    return Response{.body = std::string(std::size_t{50} << 20U, 'x'), .headers = {}};
  });
  HttpClient client(port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(eventually([&] { return server_->stats().timed_out == 1; }));
}

TEST_F(HttpServerTest, TheConnectionThatHasBeenIdleForLongestMakesRoom) {
  start({.most_connections = 4});
  std::vector<std::unique_ptr<HttpClient>> idle;
  for (std::size_t i = 0; i < 4; ++i) {
    idle.push_back(std::make_unique<HttpClient>(port()));
    ASSERT_TRUE(eventually([&] { return server_->stats().accepted == i + 1; }));
  }
  EXPECT_EQ(get(port(), "/new").body, "/new");
  EXPECT_TRUE(idle[0]->is_closed());
}

TEST_F(HttpServerTest, ADefectIsAResponse) {
  start({}, [](const Request& request) -> Answer {
    if (request.target == "/later") {
      return Work([]() -> Response { throw std::runtime_error("later"); });
    }
    throw std::runtime_error("now");
  });
  EXPECT_EQ(get(port(), "/").status, 500);
  EXPECT_EQ(get(port(), "/later").status, 500);
  EXPECT_EQ(get(port(), "/").json()["error"]["message"], "now");
}

TEST_F(HttpServerTest, WorkThatBlocksKeepsNoOtherRequestWaiting) {
  std::mutex mutex;
  std::condition_variable changed;
  bool may_end = false;
  std::atomic<int> begun = 0;
  start({.most_work = 2}, [&](const Request& request) -> Answer {
    if (request.target != "/work") {
      return Response{};
    }
    return Work([&] {
      ++begun;
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return may_end; });
      return Response{.body = "done", .headers = {}};
    });
  });
  HttpClient first(port());
  HttpClient second(port());
  first.send("GET /work HTTP/1.1\r\nHost: a\r\n\r\n");
  second.send("GET /work HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(get(port(), "/").status, 200);
  // Beyond the limit it is refused at once.
  EXPECT_TRUE(eventually([&] { return begun == 2; }));
  EXPECT_EQ(get(port(), "/work").status, 503);
  {
    const std::lock_guard guard(mutex);
    may_end = true;
  }
  changed.notify_all();
  EXPECT_EQ(first.read().body, "done");
  EXPECT_EQ(second.read().body, "done");
}

TEST_F(HttpServerTest, AStreamHasTheNewestEventOnly) {
  start({.most_streams = 1}, [](const Request&) { return EventStream(); });
  HttpClient client(port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.read_event(), "1");
  EXPECT_EQ(get(port(), "/").status, 503);
  version_ = 7;
  server_->publish();
  EXPECT_EQ(client.read_event(), "7");
}

TEST_F(HttpServerTest, AStreamFindsAnEventThatNobodyPublished) {
  start({.heartbeat = 10ms}, [](const Request&) { return EventStream(); });
  HttpClient client(port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.read_event(), "1");
  version_ = 2;
  // A heartbeat finds it, too.
  EXPECT_EQ(client.read_event(), "2");
}

}  // namespace

}  // namespace holdfast::cli::serve
