#pragma once

#include <span>
#include <string>

#include <holdfast/engines/redis/internal/link/command.h>

namespace holdfast::engines::redis::internal {

// One script that serves many names costs the server far less than a script for each. Joined,
// commands are
//
//   EVALSHA sha 2n  the keys of each  what they have in common  the arguments of each
//
// and the answer is an array of n. If an element is nil, or the answer no such array, nothing was
// done for that command, and it is to be sent alone. A script that keeps to that writes nothing for
// a name before all is done that can fail for it.

// Whether both are of the same script, with as many arguments, and the same in common.
[[nodiscard]] bool may_be_joined(const Command& one, const Command& other) noexcept;

// Appends them as one to what is to be sent. Each two of them may be joined.
void append_joined(std::span<const Command* const> commands, std::string& bytes);

}  // namespace holdfast::engines::redis::internal
