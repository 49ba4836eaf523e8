#pragma once

#include <initializer_list>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/connection/command.h>
#include <holdfast/engines/redis/internal/connection/reply.h>
#include <holdfast/engines/redis/internal/connection/reply_reader.h>
#include <holdfast/engines/redis/internal/connection/wire.h>

// Questions over a connection with one user, which waits for the answers.
namespace holdfast::engines::redis::internal {

// Blocks until the next reply has come. unavailable: the deadline, or the end of the connection,
// came first.
[[nodiscard]] base::Result<Reply> receive(Wire& wire, ReplyReader& reader, base::Deadline deadline);

// Sends the commands in one go. Returns their replies, in order; an error that the server answers
// is a reply.
[[nodiscard]] base::Result<std::vector<Reply>> exchange(Wire& wire,
                                                        std::initializer_list<Command> commands,
                                                        base::Deadline deadline);

}  // namespace holdfast::engines::redis::internal
