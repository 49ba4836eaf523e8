#pragma once

#include <string_view>

// A fence on a Redis server, as Lua scripts to be run with any client (EVALSHA, else EVAL).
//
// A key of its own holds the greatest token seen, as decimal digits, for ever: give it no ttl, and
// let no eviction policy remove it (noeviction, or a volatile-* one), or an old token gets in
// again. It survives a restart of the server as far as the server's persistence does
// (appendfsync always). In a cluster put the keys of one call into one slot, by a {hash tag}.
//
// Each script answers with an array of two: 1 (accepted) or 0 (refused), and the newest token seen,
// as text. A token that is not decimal digits of 64 bits, or a key that holds something else, is an
// error reply, and nothing is changed.
namespace holdfast::fence {

struct Script {
  std::string_view sha;  // of the text: by it the server knows a script that it has seen
  std::string_view text;
};

// KEYS: the fence. ARGV: the token. Remembers the token; what follows is not in the same step.
[[nodiscard]] const Script& redis_check_script() noexcept;

// KEYS: the fence, the resource. ARGV: the token, the value. Sets the resource to the value, if the
// token is accepted, in the same step.
[[nodiscard]] const Script& redis_set_script() noexcept;

// For scripts of your own: put this in front, and begin with
//   local accepted, newest = fence_check(KEYS[1], ARGV[1])
//   if not accepted then return {0, newest} end
[[nodiscard]] std::string_view redis_fence_function() noexcept;

}  // namespace holdfast::fence
