#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <tests/support/fake_server.h>
#include <tests/support/free_port.h>
#include <tests/support/patience.h>

#include "apps/holdfast/torture/proxy.h"

namespace holdfast::cli::torture {

namespace {

using tests::eventually;

int connect_to(std::uint16_t port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  EXPECT_EQ(::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return descriptor;
}

// A server that sends back what it gets, behind a proxy that a thread serves.
class TortureProxyTest : public ::testing::Test {
 protected:
  void with_proxy(const std::function<void(Proxy&)>& work) {
    const std::lock_guard guard(mutex_);
    work(*proxy_);
  }
  void send(const std::string& text) const {
    EXPECT_EQ(::send(client_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // Returns what comes next; nothing if the connection has ended.
  [[nodiscard]] std::string receive() const {
    char bytes[64];
    const ssize_t got = ::recv(client_.get(), bytes, sizeof bytes, 0);
    return got > 0 ? std::string(bytes, static_cast<std::size_t>(got)) : std::string();
  }
  // Returns after the proxy has served ten times more.
  void let_the_proxy_serve() const {
    const std::size_t before = rounds_;
    ASSERT_TRUE(eventually([&] { return rounds_ >= before + 10; }));
  }
  void reconnect() { client_ = Descriptor(connect_to(proxy_->port())); }

  // Bytes that the server has received.
  std::atomic<std::size_t> heard_ = 0;

 private:
  tests::FakeServer server_{[this](tests::FakeServer::Client& client) {
    for (std::string text = client.receive(); !text.empty(); text = client.receive()) {
      heard_ += text.size();
      client.send(text);
    }
  }};
  std::atomic<std::size_t> rounds_ = 0;
  std::mutex mutex_;
  const std::unique_ptr<Proxy> proxy_ = base::value_or_throw(
      Proxy::open({.host = "127.0.0.1", .port = std::to_string(server_.port())}));
  Descriptor client_{connect_to(proxy_->port())};
  std::jthread serving_{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      with_proxy([](Proxy& proxy) { proxy.serve(base::boot_clock().now()); });
      ++rounds_;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }};
};

TEST_F(TortureProxyTest, PassesRequestsAndRepliesOn) {
  for (const char* const text : {"one", "two", "three"}) {
    send(text);
    EXPECT_EQ(receive(), text);
  }
}

TEST_F(TortureProxyTest, ACutEndsConnectionsAndNewOnesWork) {
  send("one");
  EXPECT_EQ(receive(), "one");
  with_proxy([](Proxy& proxy) { proxy.cut(); });
  EXPECT_EQ(receive(), "");
  reconnect();
  send("two");
  EXPECT_EQ(receive(), "two");
}

TEST_F(TortureProxyTest, ADroppedReplyIsLostAfterTheServerDidItsWork) {
  with_proxy([](Proxy& proxy) { proxy.drop_replies(1); });
  send("one");
  EXPECT_EQ(receive(), "");
  EXPECT_EQ(heard_, 3U);
  reconnect();
  send("two");
  EXPECT_EQ(receive(), "two");
}

TEST_F(TortureProxyTest, WhatComesDuringAHangArrivesAfterIt) {
  with_proxy([](Proxy& proxy) { proxy.hang(); });
  send("late");
  let_the_proxy_serve();
  EXPECT_EQ(heard_, 0U);
  with_proxy([](Proxy& proxy) { proxy.resume(); });
  EXPECT_EQ(receive(), "late");
}

TEST_F(TortureProxyTest, ADelayHoldsBothDirectionsBack) {
  constexpr std::chrono::milliseconds kDelay(50);
  with_proxy([&](Proxy& proxy) { proxy.delay(kDelay); });
  const auto begin = std::chrono::steady_clock::now();
  send("slow");
  EXPECT_EQ(receive(), "slow");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 2 * kDelay);
}

TEST_F(TortureProxyTest, AServerThatIsNotThereEndsTheConnection) {
  const tests::ClosedPort closed;
  const auto proxy = base::value_or_throw(
      Proxy::open({.host = "127.0.0.1", .port = std::to_string(closed.number())}));
  const Descriptor client(connect_to(proxy->port()));
  char byte = 0;
  EXPECT_TRUE(eventually([&] {
    proxy->serve(base::boot_clock().now());
    return ::recv(client.get(), &byte, 1, MSG_DONTWAIT) == 0;
  }));
}

}  // namespace

}  // namespace holdfast::cli::torture
