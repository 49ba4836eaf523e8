#include <holdfast/engines/redis/internal/connection/greeting.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/redis/internal/connection/command.h>
#include <holdfast/engines/redis/internal/connection/exchange.h>
#include <holdfast/engines/redis/internal/connection/reply_reader.h>
#include <holdfast/engines/redis/internal/connection/tls_wire.h>
#include <holdfast/engines/redis/internal/connection/wire.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// One command of the greeting, and what its refusal means.
struct Step {
  Command command;
  std::string refused;
  bool is_secret = false;  // a refusal may repeat what was sent
};

std::vector<Step> steps_for(const RedisOptions& options) {
  std::vector<Step> steps;
  if (!options.user.empty() || !options.password.empty()) {
    Command login("AUTH");
    if (!options.user.empty()) {
      login.add(std::string_view(options.user));
    }
    login.add(std::string_view(options.password));
    steps.push_back({.command = std::move(login),
                     .refused = "it refuses the user or the password; check both",
                     .is_secret = true});
  }
  // First to be answered where no password was given: that shows whether one is needed.
  steps.push_back({Command("CLIENT", "SETNAME", "holdfast"), ""});
  if (options.database != 0) {
    const std::string number = std::to_string(options.database);
    steps.push_back({Command("SELECT", number),
                     "it does not let us use the database " + number + "; choose another"});
  }
  return steps;
}

Result<void> judge(const Step& step, const Reply& reply, Peer peer) {
  if (!reply.is_error()) {
    return {};
  }
  const std::string_view text = reply.text();
  const std::string said =
      " (it says: " + base::printable(step.is_secret ? text.substr(0, text.find(' ')) : text) + ")";
  if (reply.is_error("NOAUTH")) {
    return fail(
        ErrorCode::unavailable,
        (peer == Peer::server ? "it asks for a password; give one, as in redis://user:password@host"
                              : "it asks for a password; give it as sentinel_password") +
            said);
  }
  if (step.refused.empty() &&
      (reply.is_error("NOPERM") || reply.text().starts_with("ERR unknown"))) {
    return {};  // a name for the connection is a courtesy
  }
  return fail(ErrorCode::unavailable,
              (step.refused.empty() ? "it refuses to serve us" : step.refused) + said);
}

Result<void> greet(Wire& wire, const RedisOptions& options, base::Deadline deadline, Peer peer) {
  const std::vector<Step> steps = steps_for(options);
  std::string bytes;
  for (const Step& step : steps) {
    bytes += step.command.bytes();
  }
  // The server's answer matters more than the failure to send the rest.
  const auto sent = write_all(wire, bytes, deadline);
  ReplyReader reader(ReplyLimits::for_greeting());
  for (const Step& step : steps) {
    const auto reply = receive(wire, reader, deadline);
    if (!reply) {
      return std::unexpected(sent ? reply.error() : sent.error());
    }
    if (auto accepted = judge(step, *reply, peer); !accepted) {
      return accepted;
    }
  }
  return {};
}

Result<std::unique_ptr<Wire>> connect(const RedisOptions& options, base::Deadline deadline,
                                      Peer peer) {
  HOLDFAST_TRY_LET(auto socket, WireSocket::connect(options, deadline));
  std::unique_ptr<Wire> wire;
  if (options.tls) {
    HOLDFAST_TRY_LET(auto tls,
                     TlsWire::connect(std::move(socket), *options.tls, options.host, deadline));
    wire = std::move(tls);
  } else {
    wire = std::move(socket);
  }
  HOLDFAST_TRY(greet(*wire, options, deadline, peer));
  return wire;
}

}  // namespace

Result<std::unique_ptr<Wire>> connect_and_greet(const RedisOptions& options,
                                                base::Deadline deadline, Peer peer) {
  const auto limit = base::Deadline::after(base::steady_clock(), options.connect_timeout);
  auto wire = connect(options, std::min(deadline, limit), peer);
  if (!wire) {
    return fail(wire.error().code,
                (peer == Peer::server ? "the Redis server at " : "the Sentinel at ") +
                    server_address(options) + " cannot be used: " + wire.error().message);
  }
  return wire;
}

}  // namespace holdfast::engines::redis::internal
