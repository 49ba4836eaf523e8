-- Grants the mutex that `id` has to the first claim in the queue whose store listens: in one step what
-- its release and that claim would do. `first` was taken from the queue, which it had joined at `joined`;
-- if nothing was granted, the member whose turn it is stands at its front again. No functions: to make
-- them costs as much as all the rest.
--
-- The lease lasts for two seconds until its holder confirms it with its claim (see confirm.lua): that
-- is long enough for a live waiter, and a dead one does not keep the name for long. Nobody sees it as
-- its own before.
--
-- Grants nothing while the name is to be left free for other clients: see `yields` in record.lua.
local given  -- the token
local expiry = @UnconfirmedMs@ + @GraceMs@
-- include now.lua
-- include note.lua
local every = tonumber(ARGV[5]) or 0
if holder == id and (every == 0 or math.floor(granted_at / every) == math.floor(token / every)) then
  local checked = 0
  repeat
    local waiting, to = string.match(first, '^(%x+) (%x+)$')
    if not waiting then
      break  -- a store without a claim
    end
    local channel = '@ChannelPrefix@' .. waiting
    -- Before anything is published: stores that listen at a replica would hear it, too.
    local listening = to == id and 0 or redis.pcall('PUBSUB', 'NUMSUB', channel)[2]
    if not listening then
      break  -- this user may not ask
    end
    -- See queue.lua for those that joined early.
    if listening > 0 or (to ~= id and joined % 1 > 0 and token - joined < @EarlyMs@000) then
      local told = redis.pcall('PUBLISH', channel, 'grant ' .. to .. ' ' .. plain)
      if type(told) == 'number' then
        call('SET', plain, to, 'PX', expiry)
        call('SET', companion,
          table.concat({token, kept_until, token, '@UnconfirmedMs@000', to, '0 '}, ' '), 'KEEPTTL')
        given = token
      end
      break
    end
    first, joined = unpack(redis.pcall('ZPOPMIN', queue))
    checked = checked + 1
  until not first or checked == 64  -- more dead members than that have to wait for the next release
end
if first and not given then
  redis.pcall('ZADD', queue, 0, first)
  redis.pcall('PEXPIRE', queue, @QueueMs@)
end
