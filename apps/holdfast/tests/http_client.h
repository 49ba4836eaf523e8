#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace holdfast::cli::testing {

struct HttpReply {
  int status = 0;                                // 0: the connection ended before a whole reply
  std::map<std::string, std::string> headers{};  // their names in lower case
  std::string body{};

  [[nodiscard]] nlohmann::json json() const;
};

// A connection to a server on 127.0.0.1 that sends any bytes, also those that no library would.
// Gives up after kPatience.
class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Returns whether all of it was sent: not if the server has closed the connection.
  bool send(std::string_view bytes) const;
  // Reads a reply with a Content-Length.
  HttpReply read();
  // Reads the next event of a stream: the text after `data: `.
  std::string read_event();
  // Returns whether the server has closed the connection, reading what it sent before.
  bool is_closed();

 private:
  // Reads up to and without this text; false if the connection ends first.
  bool read_until(std::string_view end, std::string& text);
  bool read_more();

  int socket_;
  std::string buffer_;
};

// Sends one request over a connection of its own. `headers` are whole lines, and take the place of
// Host if they have it.
HttpReply request(std::uint16_t port, std::string_view method, std::string_view target,
                  std::string_view headers = {}, std::string_view body = {});
HttpReply get(std::uint16_t port, std::string_view target, std::string_view headers = {});

}  // namespace holdfast::cli::testing
