#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/http.hpp>
#include <fmt/core.h>

#include "apps/holdfast/serve/http_room.h"

namespace holdfast::cli::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

// One connection, from its first request to its last. `Stream` is a tcp_stream, or TLS over one.
template <class Stream>
class HttpConversation {
 public:
  HttpConversation(Stream& stream, HttpRoom& room) : stream_(stream), room_(room) {}

  // Answers requests until the client ends the connection, is too slow, or sends something else.
  asio::awaitable<void> run() {
    for (bool goes_on = true; goes_on;) {
      Parser parser;
      parser.header_limit(room_.options.most_header);
      parser.body_limit(room_.options.most_body);
      const Error error = co_await read(parser);
      if (!error) {
        goes_on = co_await answer(parser.release());
      } else {
        goes_on = false;
        count_timeout(error);
        if (is_mistake(error)) {
          co_await refuse(error);
        }
      }
    }
  }

 private:
  using Error = boost::system::error_code;
  using Parser = http::request_parser<http::string_body>;
  using Incoming = typename Parser::value_type;

  static constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);

  [[nodiscard]] beast::tcp_stream& tcp() { return beast::get_lowest_layer(stream_); }

  void count_timeout(const Error& error) {
    if (error == beast::error::timeout) {
      room_.count([](HttpStats& stats) { ++stats.timed_out; });
    }
  }

  // Returns whether the client has sent something that is no request of ours, and may want to know.
  static bool is_mistake(const Error& error) {
    const Error some_mistake = http::make_error_code(http::error::bad_method);
    return error.category() == some_mistake.category() && error != http::error::end_of_stream &&
           error != http::error::partial_message;
  }

  asio::awaitable<Error> read(Parser& parser) {
    if (buffer_.size() == 0) {
      const Listed<beast::tcp_stream> place(room_.idle, tcp());
      tcp().expires_after(room_.options.idle_time);
      const auto [error, size] =
          co_await stream_.async_read_some(buffer_.prepare(kPiece), kNoThrow);
      if (error) {
        co_return error;
      }
      buffer_.commit(size);
    }
    tcp().expires_after(room_.options.request_time);
    const auto [error, size] = co_await http::async_read(stream_, buffer_, parser, kNoThrow);
    co_return error;
  }

  static Request request_of(Incoming& incoming) {
    const auto text = [&](http::field field) { return std::string(incoming[field]); };
    Request request{.method = std::string(incoming.method_string()),
                    .target = std::string(incoming.target()),
                    .origin = text(http::field::origin),
                    .fetch_site = std::string(incoming["Sec-Fetch-Site"]),
                    .authorization = text(http::field::authorization),
                    .content_type = text(http::field::content_type),
                    .if_none_match = text(http::field::if_none_match),
                    .body = std::move(incoming.body())};
    if (incoming.count(http::field::host) == 1) {
      request.host = text(http::field::host);
    }
    return request;
  }

  // Returns what `make` returns; an exception is a defect, which the client hears of.
  template <class Make>
  static auto guarded(Make&& make) -> decltype(make()) {
    try {
      return std::forward<Make>(make)();
    } catch (const std::exception& defect) {
      return failure(kInternalError, "internal", defect.what());
    }
  }

  // Returns whether the connection goes on.
  asio::awaitable<bool> answer(Incoming incoming) {
    const bool is_head = incoming.method() == http::verb::head;
    const bool keep = incoming.keep_alive();
    const unsigned version = incoming.version();
    const Request request = request_of(incoming);
    Answer answer = guarded([&]() -> Answer { return room_.handler(request); });
    if (std::holds_alternative<EventStream>(answer)) {
      if (is_head) {
        Response header{.content_type = "text/event-stream", .headers = {}};
        const bool written = co_await write(std::move(header), version, is_head, keep);
        co_return written&& keep;
      }
      if (version >= 11 && room_.streams.size() < room_.options.most_streams) {
        co_await send_events();
        co_return false;
      }
      answer = failure(kUnavailable, "limit_exceeded", "there are too many streams of events");
    }
    Response response;
    if (Work* const work = std::get_if<Work>(&answer)) {
      response = co_await in_pool(std::move(*work));
    } else {
      response = std::move(std::get<Response>(answer));
    }
    const bool written = co_await write(std::move(response), version, is_head, keep);
    co_return written&& keep;
  }

  asio::awaitable<Response> in_pool(Work work) {
    if (room_.work >= room_.options.most_work) {
      co_return failure(kUnavailable, "limit_exceeded",
                        "the store is asked too often: try again later");
    }
    const Counted one(room_.work);
    auto run = [work = std::move(work), &room = room_]() -> asio::awaitable<Response> {
      if (room.stops) {
        co_return failure(kUnavailable, "unavailable", "the server stops");
      }
      co_return guarded([&] { return work(); });
    };
    Response response = co_await asio::co_spawn(room_.pool, std::move(run), asio::use_awaitable);
    co_return response;
  }

  template <class Message>
  void add_headers(Message& message, const Response& response) const {
    message.set(http::field::content_type, response.content_type);
    message.set(http::field::cache_control, "no-store");
    for (const auto& [name, value] : room_.options.headers) {
      message.set(name, value);
    }
    for (const auto& [name, value] : response.headers) {
      message.set(name, value);
    }
  }

  asio::awaitable<bool> write(Response response, unsigned version, bool head_only, bool keep) {
    constexpr int kClass = 100;
    room_.count([&](HttpStats& stats) {
      const int group = response.status / kClass;
      ++(group == 5   ? stats.responses_5xx
         : group == 4 ? stats.responses_4xx
         : group == 3 ? stats.responses_3xx
                      : stats.responses_2xx);
    });
    http::response<http::string_body> message(static_cast<http::status>(response.status), version);
    add_headers(message, response);
    message.keep_alive(keep);
    message.body() = std::move(response.body);
    message.prepare_payload();
    http::response_serializer<http::string_body> serializer(message);
    tcp().expires_after(room_.options.write_time);
    Error error;
    if (head_only) {
      error = std::get<0>(co_await http::async_write_header(stream_, serializer, kNoThrow));
    } else {
      error = std::get<0>(co_await http::async_write(stream_, serializer, kNoThrow));
    }
    count_timeout(error);
    co_return !error;
  }

  asio::awaitable<void> refuse(Error mistake) {
    Response response;
    if (mistake == http::error::header_limit || mistake == http::error::buffer_overflow) {
      response =
          failure(kHeaderTooLarge, "limit_exceeded", "the header of the request is too large");
    } else if (mistake == http::error::body_limit) {
      response = failure(kBodyTooLarge, "limit_exceeded", "the body of the request is too large");
    } else {
      response = failure(kBadRequest, "invalid_argument", "not a request: " + mistake.message());
    }
    const bool written = co_await write(std::move(response), 11, false, false);
    if (written) {
      co_await drain();
    }
  }

  // Reads on for a moment: a connection that is closed with bytes to read is reset, and the client
  // would not see the response.
  asio::awaitable<void> drain() {
    constexpr std::size_t kMost = std::size_t{1} << 20U;
    Error ignored;  // it is closed in any case
    tcp().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    tcp().expires_after(std::chrono::seconds(2));
    buffer_.clear();
    for (std::size_t total = 0; total < kMost;) {
      const auto [error, size] = co_await tcp().async_read_some(buffer_.prepare(kPiece), kNoThrow);
      if (error) {
        co_return;
      }
      total += size;
    }
  }

  // Sends the newest event each time there is one, until the client is too slow or has ended.
  asio::awaitable<void> send_events() {
    room_.count([](HttpStats& stats) { ++stats.responses_2xx; });
    http::response<http::empty_body> header(http::status::ok, 11);
    add_headers(header, {.content_type = "text/event-stream", .headers = {}});
    header.chunked(true);
    http::response_serializer<http::empty_body> serializer(header);
    tcp().expires_after(room_.options.write_time);
    Error error = std::get<0>(co_await http::async_write_header(stream_, serializer, kNoThrow));
    HttpRoom::Waiting me{.timer = asio::steady_timer(room_.io)};
    const Listed<HttpRoom::Waiting> place(room_.streams, me);
    room_.count([this](HttpStats& stats) { stats.streams = room_.streams.size(); });
    std::string text = "retry: 1000\n\n";
    for (std::uint64_t sent = 0; !error;) {
      const Event event = room_.newest();
      text += event.version == sent
                  ? ":\n\n"
                  : fmt::format("id: {}\ndata: {}\n\n", event.version, event.data);
      sent = event.version;
      tcp().expires_after(room_.options.write_time);
      error = std::get<0>(
          co_await asio::async_write(stream_, http::make_chunk(asio::buffer(text)), kNoThrow));
      text.clear();
      if (!error && !std::exchange(me.due, false)) {
        me.timer.expires_after(room_.options.heartbeat);
        co_await me.timer.async_wait(kNoThrow);
        me.due = false;
      }
    }
    count_timeout(error);
  }

  static constexpr std::size_t kPiece = 4096;
  static constexpr int kBadRequest = 400;
  static constexpr int kBodyTooLarge = 413;
  static constexpr int kHeaderTooLarge = 431;
  static constexpr int kInternalError = 500;
  static constexpr int kUnavailable = 503;

  Stream& stream_;
  HttpRoom& room_;
  beast::flat_buffer buffer_{room_.options.most_header + room_.options.most_body + kPiece};
};

}  // namespace holdfast::cli::serve
