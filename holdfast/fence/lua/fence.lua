-- In front of every script that a fence guards.

-- The token as text, if it is one: a number of Lua has 53 bits, too few to compare tokens.
local function fence_token(text, what)
  local digits = type(text) == 'string' and (text == '0' or string.match(text, '^[1-9]%d*$'))
  if not digits or #text > 20 or (#text == 20 and text > '18446744073709551615') then
    error('fence: ' .. what .. ' is not a fencing token of 64 bits in decimal digits', 0)
  end
  return text
end

-- Tokens are microseconds of a clock. One that is more than 366 days ahead of the server's was made up:
-- if it was remembered, every holder would be rejected for ever.
local function fence_not_far_ahead(token)
  local furthest = string.format('%.0f', redis.call('TIME')[1] + 366 * 86400) .. '000000'
  if #token > #furthest or (#token == #furthest and token > furthest) then
    error("fence: the token is more than 366 days ahead of the server's clock", 0)
  end
end

-- Returns whether no newer token was seen under this key, and the newest. An accepted token is seen now.
local function fence_check(key, text)
  local token = fence_token(text, 'the argument')
  fence_not_far_ahead(token)
  local seen = redis.call('GET', key)
  if seen then
    fence_token(seen, 'what the key holds')
    if #seen > #token or (#seen == #token and seen > token) then
      return false, seen
    end
  end
  if seen ~= token then
    redis.call('SET', key, token)
  end
  return true, token
end

