#!lua flags=allow-oom
-- include object.lua
-- The data, and from now on this token is the least that is accepted.
-- KEYS object   ARGV token, retention
local object = KEYS[1]
local token, retention = ARGV[1], ARGV[2]
local newest = newest_of(object)
if token < newest then
  return {'refused', newest}
end
if not has_data(object) then
  leave_token(object, token, retention)
  return {'absent'}
end
if token ~= newest then
  redis.call('SETRANGE', object, 0, token)
end
return {'loaded', redis.call('GETRANGE', object, token_size + 1, -1)}
