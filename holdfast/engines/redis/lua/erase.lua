#!lua flags=allow-oom
-- include object.lua
-- KEYS object, index of its type   ARGV token, id, retention
local object, index = KEYS[1], KEYS[2]
local token, id, retention = ARGV[1], ARGV[2], ARGV[3]
local newest = newest_of(object)
if token < newest then
  return {'refused', newest}
end
local existed = has_data(object)
redis.call('ZREM', index, id)
leave_token(object, token, retention)
return {'erased', existed and 1 or 0}
