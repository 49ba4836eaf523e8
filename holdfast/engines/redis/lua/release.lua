#!lua flags=allow-oom
-- Removes exactly this lease, or ends its waiting, and then tells one who waits: 1 if it was there,
-- else 0. If somebody waits at the store that releases (given only then), it stands behind the others.
-- KEYS plain, companion, queue   ARGV …, id, store
local plain, companion, queue = unpack(KEYS)
local id, store = ARGV[2], ARGV[3] or ''

-- The usual case, a mutex that has not just ended, and whose note will not be kept for much longer
-- than it has to be: said below at length.
local retention = tonumber(ARGV[1])  -- where the time is the server's
local is_usual = false
if retention and store == '' and redis.call('GET', plain) == id then
  local left = redis.call('PTTL', plain)
  local grace = 2  -- as in record.lua; and a ttl is rounded up to milliseconds
  is_usual = left > grace + 1 and left <= retention
end
if is_usual then
  redis.call('DEL', plain)
  if redis.pcall('EXISTS', queue) == 0 then
    return 1
  end
end
-- include queue.lua
if is_usual then
  wake_one(queue, plain)
  return 1
end
-- include record.lua
local record = load(plain, companion)
-- The plain key alone says that it is ours where the companion was lost.
local was_held = record.live[id] ~= nil or (record.value == id and not record.ended[id])

record.ended[id] = true
sweep(record, plain, companion)
local did_wait = stop_waiting(record, companion, id)
if not was_held and not did_wait then
  return 0
end
local others = #record.leases - (record.live[id] and 1 or 0)
if record.note then
  -- Not before it began, should the clock have gone back since.
  record.note.expires = math.max(record.note.granted, math.min(record.note.expires, now))
  write_note(companion, record.note)
elseif others == 0 and not counts_hits(record) and not record.waits[1] then
  redis.call('PEXPIRE', companion, retention)
end
wait_in(queue, store)
wake(record, queue, plain)
return was_held and 1 or 0
