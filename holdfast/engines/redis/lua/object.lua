-- How an object is kept: a string, its greatest token in 20 digits, and if there are data, a blank and
-- the data. Tokens are compared as texts: there are no numbers here that are exact to 64 bits. Without
-- data the key expires, so that the token is remembered for a while.
-- The ids of a type's objects that have data are in its index, a sorted set in the order of their bytes.
local token_size = 20
local no_token = string.rep('0', token_size)

-- Empty if there is none, which is smaller than all.
local function newest_of(object)
  local token = redis.call('GETRANGE', object, 0, token_size - 1)
  if token ~= '' and not (#token == token_size and string.match(token, '^%d+$')) then
    error({err = 'CORRUPT an object is in no format that is known'})
  end
  return token
end

local function has_data(object)
  return redis.call('STRLEN', object) > token_size
end

-- Leaves nothing but the token, for so many milliseconds.
local function leave_token(object, token, retention)
  if token == no_token or retention == '0' then
    redis.call('DEL', object)
  else
    redis.call('SET', object, token, 'PX', retention)
  end
end
