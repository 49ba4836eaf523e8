-- include fence.lua
-- Sets a value if its writer's token is accepted: {1, newest}, else {0, newest}.
-- KEYS fence, resource   ARGV token, value
local accepted, newest = fence_check(KEYS[1], ARGV[1])
if not accepted then
  return {0, newest}
end
redis.call('SET', KEYS[2], ARGV[2])
return {1, newest}
