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
  local heard = to ~= id and
    redis.pcall('PUBLISH', 'hf:wake:' .. waiting, 'grant ' .. token .. ' ' .. to .. ' ' .. plain)
  if type(heard) == 'number' and heard > 0 then
    redis.call('SET', plain, to, 'PX', expiry)
    redis.call('SET', companion, token .. ' ' .. kept_until .. ' ' .. token .. ' ' .. claim, 'KEEPTTL')
    given = token
    break
  end
  first = redis.pcall('ZPOPMIN', queue)[1]
end
if first and not given then
  redis.call('ZADD', queue, 0, first)
  redis.call('PEXPIRE', queue, 60000)  -- as in queue.lua
end
