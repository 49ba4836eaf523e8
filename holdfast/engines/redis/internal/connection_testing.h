#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <tests/support/redis_server.h>

#include <holdfast/base/deadline.h>
#include <holdfast/engines/redis/internal/connection.h>
#include <holdfast/engines/redis/redis_url.h>

namespace holdfast::engines::redis::internal {

// The helpers of the connection's tests. Patience is the bound of a wait that ends long before.
inline base::Deadline patience() {
  return base::Deadline::after(base::steady_clock(), std::chrono::seconds(60));
}

inline base::Deadline soon() {
  return base::Deadline::after(base::steady_clock(), std::chrono::milliseconds(50));
}

inline RedisOptions options_for(const tests::RedisServer& server) {
  return {.host = "127.0.0.1", .port = server.port()};
}

// The options of a URL that is right.
inline RedisOptions options_of(const std::string& url) {
  auto options = parse_redis_url(url);
  EXPECT_TRUE(options) << (options ? "" : options.error().message);
  return options ? *options : RedisOptions{};
}

// A connection that is connected.
inline std::unique_ptr<Connection> open_connection(RedisOptions options) {
  options.connect_timeout = std::chrono::seconds(30);
  auto connection = std::make_unique<Connection>(std::move(options));
  const auto reply = connection->call(Command("PING"), patience());
  EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
  return connection;
}

// The text of the reply, or of the error.
inline std::string text_of(const base::Result<Reply>& reply) {
  return reply ? reply->text() : to_string(reply.error());
}

}  // namespace holdfast::engines::redis::internal
