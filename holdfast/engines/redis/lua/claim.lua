-- Grants the name, or names its holders.
-- KEYS plain, companion   ARGV …, id, what to keep of the lease: `ttl id words`, of a mutex the
-- milliseconds until the plain key expires, else an empty text; and where more is to be said
--   `permits capacity holds_back store place`: what a refusal does to the queue. `store` joins it, unless it
--   is empty; or with its claim, if `place` is `joins`, or `early`: before it listens (see queue.lua). Where
--   `place` is `leaves`, the claim leaves the queue
--   the claim's member of the queue, if it may be there already
-- Or, by the server's clock, several mutexes: the keys of each, then of each id, lease and milliseconds.
-- The answer is an array then, for each its token; or false if it is not a usual case, and nothing was
-- done.

-- The usual case, a mutex that nobody has. Each argument costs as much as a call.
local retention = tonumber(ARGV[1])  -- where the time is the server's
if retention and ARGV[4] ~= '' then
  local call = redis.call
  -- include now.lua
  if #KEYS > 2 then
    local answers = {}
    for i = 1, #KEYS / 2 do
      local plain, companion = KEYS[2 * i - 1], KEYS[2 * i]
      local id, lease, expiry, granted = ARGV[3 * i - 1], ARGV[3 * i], ARGV[3 * i + 1], nil
      -- include take.lua
      answers[i] = granted and token
    end
    return answers
  end
  local plain, companion = KEYS[1], KEYS[2]
  local id, lease, expiry, granted = ARGV[2], ARGV[3], ARGV[4], nil
  -- include take.lua
  if granted then
    if ARGV[6] then
      -- include queue_key.lua
      redis.pcall('ZREM', queue, ARGV[6])
    end
    return token
  end
  if ARGV[6] and call('GET', plain) == id then
    -- include confirm.lua
  end
end
-- include queue.lua
local plain, companion = unpack(KEYS)
-- include queue_key.lua
-- include record.lua
-- include count.lua
local permits, capacity, holds_back, store, place =
  string.match(ARGV[5] or '1 1 0  ', '^(%d+) (%d+) (%d+) (%x*) (%a*)$')
local lease, ttl = new_lease(ARGV[3], permits, capacity)
holds_back = tonumber(holds_back)
local record = load_counted(plain, companion, {lease.id})

if counts_hits(record) then
  return conflict('the name counts hits: it cannot be leased at the same time')
end
local function wait_for_it()
  if place == 'leaves' then
    redis.pcall('ZREM', queue, ARGV[6])
  end
  local joins = place == 'joins' or place == 'early'
  wait_in(queue, store, digits(now), joins and (ARGV[6] or store .. ' ' .. lease.id), place == 'early')
end

local mine = record.live[lease.id]
if mine then
  if mine.permits ~= lease.permits or mine.capacity ~= lease.capacity then
    return conflict('this lease id holds the name with other permits')
  end
  if ARGV[6] then
    redis.pcall('ZREM', queue, ARGV[6])
  end
  if mine.words == unconfirmed then
    mine.words, mine.expires = lease.words, now
  end
  prolong(mine, plain, companion, ttl, record.kept_until)
  return same_grant(mine)
end
local used = record.used + lease.permits
if record.has_more and (record.capacity ~= lease.capacity or used > lease.capacity) then
  -- There may be room when the next claim has removed more of the leases that have ended.
  wait_for_it()
  return {'busy', 0, holders(record, some_leases(record, companion))}
end
if is_held(record) and record.capacity ~= lease.capacity then
  return conflict('the name is held with a capacity of ' .. digits(record.capacity) .. ', not ' ..
    digits(lease.capacity))
end
if record.waits[1] and record.waits[1].capacity ~= lease.capacity then
  record.waits = {}
  save_waits(record, companion)
end
local is_full = record.foreign or used > lease.capacity
local held_back = math.max(held_back_for(record, lease), yields_for(record))
if is_full or held_back > 0 then
  wait_for_it()
  wait_on(record, companion, lease, holds_back, store)
  local free = record.foreign and record.foreign.left or
    is_full and frees_in(record, companion, lease) or 0
  local who = holders(record, some_leases(record, companion))
  if not who[1] and yields_for(record) > 0 then
    who[1] = {'', 'nobody: left free for clients that poll', '', 1, 0, 0, held_back, 0}
  end
  return {'busy', free < 0 and free or math.max(free, held_back), who}
end
stop_waiting(record, companion, lease.id)
if ARGV[6] then
  redis.pcall('ZREM', queue, ARGV[6])
end
local granted = grant(record, plain, companion, lease, ttl)
if used < lease.capacity then
  wake(record, queue, plain)  -- there may be room for the next, too
end
return granted
