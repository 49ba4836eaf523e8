#!lua
-- include object.lua
-- Saves objects, or those that are not refused. For each: an empty text, the token that refuses it, or
-- `withheld`.
-- KEYS object, index of its type, …   ARGV each or all_or_none, then token, id, data of each object
local outcomes = {}
local any_refused = false
for i = 1, #KEYS / 2 do
  local newest = newest_of(KEYS[2 * i - 1])
  redis.call('ZCARD', KEYS[2 * i])  -- fails now, not later, if it is something else
  local refused = ARGV[3 * i - 1] < newest
  outcomes[i] = refused and newest or ''
  any_refused = any_refused or refused
end
for i = 1, #KEYS / 2 do
  if outcomes[i] == '' then
    if any_refused and ARGV[1] == 'all_or_none' then
      outcomes[i] = 'withheld'
    else
      local token, id, data = ARGV[3 * i - 1], ARGV[3 * i], ARGV[3 * i + 1]
      redis.call('ZADD', KEYS[2 * i], 0, id)
      redis.call('SET', KEYS[2 * i - 1], token .. ' ' .. data)
    end
  end
end
return outcomes
