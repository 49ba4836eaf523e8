#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

#include <fmt/core.h>
#include <tests/support/patience.h>

#include "apps/holdfast/tests/http_client.h"

namespace holdfast::cli::testing {

nlohmann::json HttpReply::json() const {
  return nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
}

HttpClient::HttpClient(std::uint16_t port)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval patience{.tv_sec = tests::kPatience.count(), .tv_usec = 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(socket_);
    throw std::runtime_error("the server does not listen");
  }
}

HttpClient::~HttpClient() { close(socket_); }

bool HttpClient::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool HttpClient::read_more() {
  std::array<char, 65536> piece{};
  const ssize_t size = recv(socket_, piece.data(), piece.size(), 0);
  buffer_.append(piece.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return size > 0;
}

bool HttpClient::read_until(std::string_view end, std::string& text) {
  std::size_t at = buffer_.find(end);
  while (at == std::string::npos) {
    if (!read_more()) {
      return false;
    }
    at = buffer_.find(end);
  }
  text = buffer_.substr(0, at);
  buffer_.erase(0, at + end.size());
  return true;
}

HttpReply HttpClient::read() {
  HttpReply reply;
  std::string head;
  if (!read_until("\r\n\r\n", head) || !head.starts_with("HTTP/1.")) {
    return reply;
  }
  std::size_t at = head.find("\r\n");
  const int status = std::stoi(head.substr(head.find(' ')));
  while (at < head.size()) {
    at += 2;
    const std::size_t end = std::min(head.find("\r\n", at), head.size());
    const std::string line = head.substr(at, end - at);
    const std::size_t colon = line.find(": ");
    std::string name = line.substr(0, colon);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    reply.headers[name] = line.substr(std::min(colon + 2, line.size()));
    at = end;
  }
  const std::size_t size =
      reply.headers.contains("content-length") ? std::stoul(reply.headers["content-length"]) : 0;
  while (buffer_.size() < size) {
    if (!read_more()) {
      return reply;
    }
  }
  reply.status = status;
  reply.body = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return reply;
}

std::string HttpClient::read_event() {
  std::string before;
  std::string data;
  return read_until("data: ", before) && read_until("\n\n", data) ? data : "";
}

bool HttpClient::is_closed() {
  while (read_more()) {
  }
  return true;
}

HttpReply request(std::uint16_t port, std::string_view method, std::string_view target,
                  std::string_view headers, std::string_view body) {
  HttpClient client(port);
  const std::string host =
      headers.contains("Host:") ? "" : fmt::format("Host: 127.0.0.1:{}\r\n", port);
  const std::string length = body.empty() ? "" : fmt::format("Content-Length: {}\r\n", body.size());
  client.send(fmt::format("{} {} HTTP/1.1\r\n{}{}{}Connection: close\r\n\r\n{}", method, target,
                          host, headers, length, body));
  return client.read();
}

HttpReply get(std::uint16_t port, std::string_view target, std::string_view headers) {
  return request(port, "GET", target, headers);
}

}  // namespace holdfast::cli::testing
