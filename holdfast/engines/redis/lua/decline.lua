-- Declines the mutex that a release has granted to this claim (see give.lua), whose caller does not wait any
-- more: 1 if it was still to be confirmed, else 0. The next store that waits gets a hint.
-- KEYS plain, companion   ARGV …, id
-- include record.lua
-- include queue.lua
local plain, companion = unpack(KEYS)
-- include queue_key.lua
local id = ARGV[2]
local readable, lease = pcall(decode_note, redis.pcall('GET', companion))
if redis.pcall('GET', plain) ~= id or not readable or lease.id ~= id or lease.words ~= '0 ' or
  lease.expires - lease.granted > @UnconfirmedMs@000 then
  return 0
end
redis.call('DEL', plain)
wake_one(queue, plain)
return 1
