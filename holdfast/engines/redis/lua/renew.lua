#!lua flags=allow-oom
-- Extends leases: 1 for each that is renewed, 0 for each that is lost, -1 for each whose record cannot be
-- read. What is held stays held when the server's memory is full.
-- KEYS plain, companion of each   ARGV …, id, ttl of each
-- include record.lua
local function renew_mutex(plain, companion, id, ttl)
  local readable, lease, kept_until = pcall(decode_note, redis.call('GET', companion))
  if not readable then
    return -1
  end
  if lease.id ~= id or not is_live(lease, redis.pcall('GET', plain)) then
    return 0
  end
  prolong(lease, plain, companion, ttl, kept_until)
  return 1
end

local function renew_other(companion, id, ttl)
  local text = redis.pcall('HGET', companion, id)
  if not text then
    return 0
  end
  local readable, lease = pcall(decode, id, text)
  if not readable then
    return -1
  end
  if not is_live(lease) then
    return 0
  end
  prolong(lease, nil, companion, ttl)
  return 1
end

local function renew(plain, companion, id, ttl)
  if is_note(companion) then
    return renew_mutex(plain, companion, id, ttl)
  end
  return renew_other(companion, id, ttl)
end

local outcomes = {}
for i = 1, #KEYS / 2 do
  outcomes[i] = renew(KEYS[2 * i - 1], KEYS[2 * i], ARGV[2 * i], tonumber(ARGV[2 * i + 1]))
end
return outcomes
