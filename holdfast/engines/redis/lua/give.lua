-- Gives the mutex that `id` has to the first claim in the queue whose store listens: in one step what
-- its release and that claim would do. `first` was taken from the queue; if nothing was given, the one
-- whose turn it is stands at its front again. No functions: to make them costs as much as all the rest.
local given  -- the token
local time = redis.call('TIME')
local token = time[1] .. string.rep('0', 6 - #time[2]) .. time[2]
local note = redis.pcall('GET', companion)
local kept_until, granted, lasted, holder =
  string.match(type(note) == 'string' and note or '', '^%d+ (%d+) (%d+) (%d+) (%x+) ')
local is_live = holder == id and note < token and granted + lasted > tonumber(token)
while is_live and first do
  local waiting, claim, lasts, to = string.match(first, '^(%x+) ((%d+) (%x+) .*)$')
  if not waiting then
    break  -- it did not say what it wants
  end
  local expiry = math.ceil(lasts / 1000) + 2  -- the grace of record.lua
  if tonumber(kept_until) <= time[1] + math.ceil((expiry + retention) / 1000) then
    break  -- the note would have to be kept for longer
  end
  local channel = 'hf:wake:' .. waiting
  -- Before anything is published: that is heard by those who listen at a replica, too.
  local listening = to == id and 0 or redis.pcall('PUBSUB', 'NUMSUB', channel)[2]
  if not listening then
    break  -- this user may not ask
  end
  if listening > 0 then
    local told = redis.pcall('PUBLISH', channel, 'grant ' .. token .. ' ' .. to .. ' ' .. plain)
    if type(told) == 'number' then
      redis.call('SET', plain, to, 'PX', expiry)
      redis.call('SET', companion, token .. ' ' .. kept_until .. ' ' .. token .. ' ' .. claim, 'KEEPTTL')
      given = token
    end
    break
  end
  first = redis.pcall('ZPOPMIN', queue)[1]
end
if first and not given then
  redis.pcall('ZADD', queue, 0, first)
  redis.pcall('PEXPIRE', queue, 60000)  -- as in queue.lua
end
