-- Frees the mutex `plain`, unless it has just ended, or its note would be kept for much longer than it has
-- to be: what release.lua says at length. `freed` is then 1.
local left = call('PTTL', plain)
-- A ttl is rounded up to milliseconds.
if left > @GraceMs@ + 1 and left <= retention then
  freed = call('DEL', plain)
end
