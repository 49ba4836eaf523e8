-- Confirms the mutex that a release has granted to this claim (see give.lua): the lease lasts for the
-- claim's ttl from now, and has its owner and reason. The usual case; claim.lua says the rest at length,
-- and whether a token that give.lua has not written is one that we can have written at all.
local held = redis.pcall('GET', KEYS[2])
local its_token, kept_until, granted, lasted, holder, words =
  string.match(type(held) == 'string' and held or '', '^(%d+) (%d+) (%d+) (%d+) (%x+) (.*)$')
if words == '0 ' and holder == ARGV[2] and its_token == granted and #granted == #token and
  granted <= token and granted + lasted > tonumber(token) and
  tonumber(kept_until) > second + math.ceil((ARGV[4] + retention) / 1000) then
  call('PEXPIRE', KEYS[1], ARGV[4])
  call('SET', KEYS[2], its_token .. ' ' .. kept_until .. ' ' .. token .. ' ' .. ARGV[3], 'KEEPTTL')
  return its_token
end
