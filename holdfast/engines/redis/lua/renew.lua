#!lua flags=allow-oom
-- Extends leases: 1 for each that is renewed, 0 for each that is lost. What is held stays held when
-- the server's memory is full.
-- KEYS plain, companion of each   ARGV …, id, ttl of each
local function renew(plain, companion, id, ttl)
  local text = redis.pcall('HGET', companion, id)
  local readable, lease = pcall(decode, id, text)
  if not readable or not is_live(lease, lease.capacity == 1 and redis.pcall('GET', plain)) then
    return 0
  end
  if now + ttl > lease.expires then
    lease.expires = now + ttl
    redis.call('HSET', companion, id, encode(lease))
    if lease.capacity == 1 then
      redis.call('PEXPIRE', plain, milliseconds(ttl) + grace)
    end
    keep(companion, ttl)  -- after the plain key, as in `grant`
  end
  return 1
end

local outcomes = {}
for i = 1, #KEYS / 2 do
  outcomes[i] = renew(KEYS[2 * i - 1], KEYS[2 * i], ARGV[2 * i + 2], tonumber(ARGV[2 * i + 3]))
end
return outcomes
