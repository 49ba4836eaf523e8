-- The queue of waiters for a name, and how to notify them that it may be free.
--
-- Its members are stores: `store`, which gets a hint when its turn comes, or `store id` with the id of a claim for
-- the mutex, to which a release then grants the name (see give.lua). A member's score is the time at which it
-- joined.
--
-- A store that nobody listens for is dead, and its members are removed. But a store listens only once a
-- caller has to wait, and the first claim of that caller must not lose its turns until then: it joins the
-- queue early, with half a microsecond in its score, and for @EarlyMs@ ms from then its store counts as
-- one that listens.
--
-- Earlier changes stay, whatever has taken the queue's key, and even if this user may not publish.

-- The most members that one script checks: it bounds the time of a release, however many dead members are in the
-- queue.
local most_checked = 64

local function channel_of(member)
  return '@ChannelPrefix@' .. string.sub(member, 1, 32)
end

local function is_early(joined, now)
  return joined % 1 > 0 and now - joined < @EarlyMs@000
end

-- Removes dead members: two that are chosen at random, whenever a member joins. So there are never many
-- more of them than live ones, wherever in the queue they are.
local function remove_dead(queue, now)
  local some = redis.pcall('ZRANDMEMBER', queue, 2, 'WITHSCORES')
  for i = 1, #some, 2 do
    if redis.pcall('PUBSUB', 'NUMSUB', channel_of(some[i]))[2] == 0 and not is_early(some[i + 1], now) then
      redis.pcall('ZREM', queue, some[i])
    end
  end
end

-- `claim` is the member of the store with its claim, or nil.
local function wait_in(queue, store, now, claim, early)
  if store == '' then
    return
  end
  if claim then
    redis.pcall('ZREM', queue, store)
  end
  if redis.pcall('ZADD', queue, 'NX', now .. (early and '.5' or ''), claim or store) == 1 then
    remove_dead(queue, now)
  end
  redis.pcall('PEXPIRE', queue, @QueueMs@)
end

-- Returns whether any client received it.
local function tell(store, plain)
  local heard = redis.pcall('PUBLISH', channel_of(store), 'hint ' .. plain)
  return type(heard) == 'number' and heard > 0
end

-- Tells the live store that has waited longest.
local function wake_one(queue, plain)
  for _ = 1, most_checked do
    local first = redis.pcall('ZPOPMIN', queue)[1]
    if not first or tell(string.sub(first, 1, 32), plain) then
      return
    end
  end
end

-- Sends a hint to the live store that has waited longest, which keeps its position. Returns whether there
-- is one.
local function hint_first(queue, plain)
  for _ = 1, most_checked do
    local first = redis.pcall('ZRANGE', queue, 0, 0)[1]
    if not first or tell(string.sub(first, 1, 32), plain) then
      return first ~= nil
    end
    redis.pcall('ZREM', queue, first)
  end
  return false
end

-- Tells the claims that hold back the others, for nobody else gets in, or else the first waiter.
local function wake(record, queue, plain)
  local heard = false
  for _, wait in ipairs(record.waits) do
    heard = wait.store ~= '-' and tell(wait.store, plain) or heard
  end
  if not heard then
    wake_one(queue, plain)
  end
end
