#pragma once

#include <cstdint>
#include <memory>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/connection/wire.h>
#include <holdfast/engines/redis/redis_options.h>

namespace holdfast::engines::redis::internal {

// The kind of server at the other end: where its password comes from, and its name in errors.
enum class Peer : std::uint8_t { server, sentinel };

// A connection that is ready for commands: connected, encrypted if asked for, logged in, with the
// right database. It is made to the host and port, or the socket, of the options. Takes at most
// connect_timeout, and no longer than the deadline.
//
// unavailable: the message says where, what is wrong, and what to do; invalid_argument: options
// that can never work.
[[nodiscard]] base::Result<std::unique_ptr<Wire>> connect_and_greet(const RedisOptions& options,
                                                                    base::Deadline deadline,
                                                                    Peer peer = Peer::server);

}  // namespace holdfast::engines::redis::internal
