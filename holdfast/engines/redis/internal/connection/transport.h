#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/connection/reply_reader.h>
#include <holdfast/engines/redis/internal/connection/wire.h>

namespace holdfast::engines::redis::internal {

// The socket of a connection with its buffers, from the greeting to its loss. Shared, so that a
// thread that still writes to it does not mind that another has given it up.
class Transport {
 public:
  explicit Transport(std::unique_ptr<Wire> wire, ReplyLimits limits = {})
      : wire_(std::move(wire)), reader_(limits) {}

  // For the leader only. Appends the replies that have come; returns false if none came.
  [[nodiscard]] base::Result<bool> read(std::vector<Reply>& replies);
  // For the leader only. Returns whether the last read() brought a whole reply, or much of one: a
  // server that sends byte by byte does not count as alive for that.
  [[nodiscard]] bool has_progressed() const noexcept { return has_progressed_; }

  // For the thread that has set `writing` only. Commands to send are appended to the buffer, in
  // order; sent ones leave it once it is empty.
  [[nodiscard]] std::string& to_send() noexcept { return to_send_; }
  [[nodiscard]] std::string_view unsent() const noexcept {
    return std::string_view(to_send_).substr(sent_);
  }
  void add_sent(std::size_t bytes) noexcept;

  [[nodiscard]] Wire& wire() noexcept { return *wire_; }

  // Protected by the connection's mutex.
  bool writing = false;
  bool needs_room = false;  // there is something unsent, for which there was no room
  std::optional<base::Error> write_error{};
  base::TimePoint heard{};  // when the last replies came
  bool has_answered = false;
  bool is_left = false;   // another server is the right one now: it ends at once
  bool unfit = false;     // the server says that it takes no commands now: no more are sent
  bool suspect = false;   // a call has waited for nothing: it ends unless something has come
  std::size_t alone = 0;  // so many commands are not joined with others

 private:
  const std::unique_ptr<Wire> wire_;
  ReplyReader reader_;                              // the leader's
  bool has_progressed_ = false;                     // the leader's
  std::size_t counted_ = 0;                         // the leader's: of the reply that has begun
  std::array<char, std::size_t{1} << 16U> buffer_;  // the leader's
  std::string to_send_;                             // the writer's
  std::size_t sent_ = 0;                            // the writer's
};

}  // namespace holdfast::engines::redis::internal
