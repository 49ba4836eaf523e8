#include <holdfast/engines/redis/internal/connection/exchange.h>

#include <array>
#include <string>
#include <utility>

#include <holdfast/base/try.h>

namespace holdfast::engines::redis::internal {

using base::ErrorCode;
using base::fail;
using base::Result;

Result<Reply> receive(Wire& wire, ReplyReader& reader, base::Deadline deadline) {
  std::array<char, 1024> buffer;
  while (true) {
    HOLDFAST_TRY_LET(auto reply, reader.next());
    if (reply) {
      return *std::move(reply);
    }
    if (deadline.expired(base::steady_clock().now())) {
      return fail(ErrorCode::unavailable, "it did not answer in time; it may be busy or stopped");
    }
    HOLDFAST_TRY_LET(const auto got, wire.read(buffer));
    HOLDFAST_TRY(reader.feed({buffer.data(), got}));
    const auto events = static_cast<short>(POLLIN | wire.read_also_needs());
    pollfd waiting{.fd = wire.descriptor(), .events = events, .revents = 0};
    if (got == 0) {
      (void)poll_until({&waiting, 1}, deadline);
    }
  }
}

Result<std::vector<Reply>> exchange(Wire& wire, std::initializer_list<Command> commands,
                                    base::Deadline deadline) {
  std::string bytes;
  for (const Command& command : commands) {
    bytes += command.bytes();
  }
  HOLDFAST_TRY(write_all(wire, bytes, deadline));
  ReplyReader reader({.bytes = std::size_t{1} << 20U, .elements = 4096});
  std::vector<Reply> replies;
  while (replies.size() < commands.size()) {
    HOLDFAST_TRY_LET(replies.emplace_back(), receive(wire, reader, deadline));
  }
  return replies;
}

}  // namespace holdfast::engines::redis::internal
