#!lua flags=allow-oom
-- Removes exactly this lease, or ends its waiting, and then tells one who waits: 1 if it was there,
-- else 0.
-- KEYS plain, companion, queue   ARGV …, id
local plain, companion, queue = unpack(KEYS)
local id = ARGV[4]
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
if others == 0 and not counts_hits(record) and not record.waits[1] then
  redis.call('PEXPIRE', companion, retention)
end
wake(record, queue, plain)
return was_held and 1 or 0
