#pragma once

#include <string_view>

// A fence on a Redis server, as Lua scripts to be run with any client (EVALSHA, else EVAL).
//
// A separate key holds the greatest token seen, as decimal digits, for ever: give it no ttl, and
// let no eviction policy remove it (use noeviction or a volatile-* policy); otherwise a stale token
// may be accepted. It survives a restart of the server if the server's persistence keeps it
// (appendfsync always). In a cluster put the keys of one call into one slot, with a {hash tag}.
//
// Each script returns an array of two: 1 (accepted) or 0 (rejected), and the newest token seen,
// as text. A token that is not decimal digits of 64 bits, or is more than 366 days ahead of the
// server's clock, or a key that holds something else, is an error reply, and nothing is changed.
namespace holdfast::fence {

struct Script {
  std::string_view sha;  // of the text: the server knows a cached script by it
  std::string_view text;
};

// KEYS: the fence. ARGV: the token. Remembers the token; what you do next is a separate step.
[[nodiscard]] const Script& redis_check_script() noexcept;

// KEYS: the fence, the resource. ARGV: the token, the value. If the token is accepted, sets the
// resource to the value in the same step.
[[nodiscard]] const Script& redis_set_script() noexcept;

// For your own scripts: put this in front, and begin with
//   local accepted, newest = fence_check(KEYS[1], ARGV[1])
//   if not accepted then return {0, newest} end
[[nodiscard]] std::string_view redis_fence_function() noexcept;

}  // namespace holdfast::fence
