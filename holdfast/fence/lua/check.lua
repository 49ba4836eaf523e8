-- include fence.lua
-- Remembers a token: {1, newest} if it is accepted, else {0, newest}.
-- KEYS fence   ARGV token
local accepted, newest = fence_check(KEYS[1], ARGV[1])
return {accepted and 1 or 0, newest}
