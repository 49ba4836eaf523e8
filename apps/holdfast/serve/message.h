#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::cli::serve {

// A request as it was received: the parts that the pages and the API need.
struct Request {
  std::string method{};
  std::string target{};
  std::string host{};  // empty: none, or more than one
  std::string origin{};
  std::string fetch_site{};
  std::string authorization{};
  std::string content_type{};
  std::string if_none_match{};
  std::string body{};
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};
};

// A response that takes a while, because the store is asked: a thread that may block makes it.
using Work = std::function<Response()>;

// The response is a stream of server-sent events.
struct EventStream {};

using Answer = std::variant<Response, Work, EventStream>;

// The newest event of all streams. A client that reads slowly misses older ones.
struct Event {
  std::uint64_t version = 0;
  std::string data{};  // one line
};

// Returns {"error": {"code", "message"}}, as the command does.
[[nodiscard]] Response failure(int status, std::string_view code, std::string_view message);

}  // namespace holdfast::cli::serve
