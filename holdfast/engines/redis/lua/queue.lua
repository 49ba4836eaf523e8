-- Who waits for a name, and how they are told that it may be free.
--
-- In the queue are stores, as `store`, or as `store lasts id words` with a claim for the mutex that is
-- given to it when its turn comes, for so long (see give.lua).
--
-- What was done stays done, whatever is in the queue's place, and whether or not this user may publish.

-- Of a store that does not ask again for so long nobody waits any more.
local waiting_for = 60000

-- `claim` is how the store stands there with its claim, or nil.
local function wait_in(queue, store, now, claim)
  if store == '' then
    return
  end
  if claim then
    redis.pcall('ZREM', queue, store)
  end
  redis.pcall('ZADD', queue, 'NX', now, claim or store)
  redis.pcall('PEXPIRE', queue, waiting_for)
end

-- Whether anybody heard it.
local function tell(store, plain)
  local heard = redis.pcall('PUBLISH', 'hf:wake:' .. store, 'hint ' .. plain)
  return type(heard) == 'number' and heard > 0
end

-- Tells the store that has waited longest, and is still there.
local function wake_one(queue, plain)
  local first
  repeat
    first = redis.pcall('ZPOPMIN', queue)[1]
  until not first or tell(string.sub(first, 1, 32), plain)
end

-- Tells those who hold back the others, for nobody else gets in, or else the first who waits.
local function wake(record, queue, plain)
  local heard = false
  for _, wait in ipairs(record.waits) do
    heard = wait.store ~= '-' and tell(wait.store, plain) or heard
  end
  if not heard then
    wake_one(queue, plain)
  end
end
