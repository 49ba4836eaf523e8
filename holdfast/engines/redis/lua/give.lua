-- Gives the mutex that `id` has to the first claim in the queue whose store listens: in one step what
-- its release and that claim would do. `first` was taken from the queue; if nothing was given, the one
-- whose turn it is stands at its front again.
local function give(plain, companion, queue, id, first)
  local time = redis.call('TIME')
  local token = time[1] .. string.rep('0', 6 - #time[2]) .. time[2]
  local note = redis.pcall('GET', companion)
  local kept_until, granted, lasted, holder =
    string.match(type(note) == 'string' and note or '', '^%d+ (%d+) (%d+) (%d+) (%x+) ')
  local is_live = holder == id and note < token and granted + lasted > tonumber(token)
  while is_live and first do
    local store, claim, lasts, to = string.match(first, '^(%x+) ((%d+) (%x+) .*)$')
    if not store then
      break  -- it did not say what it wants
    end
    local expiry = math.ceil(lasts / 1000) + 2  -- the grace of record.lua
    if tonumber(kept_until) <= time[1] + math.ceil((expiry + retention) / 1000) then
      break  -- the note would have to be kept for longer
    end
    if to ~= id and publish(store, 'grant ' .. token .. ' ' .. to .. ' ' .. plain) then
      redis.call('SET', plain, to, 'PX', expiry)
      redis.call('SET', companion, table.concat({token, kept_until, token, claim}, ' '), 'KEEPTTL')
      return token
    end
    first = redis.pcall('ZPOPMIN', queue)[1]
  end
  if first then
    redis.call('ZADD', queue, 0, first)
  end
end
