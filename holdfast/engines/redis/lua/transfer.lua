-- Replaces the lease `from` by another with the same permits, or fewer.
-- KEYS plain, companion   ARGV …, from, the lease: `ttl id words`, permits, capacity, the members
-- of the queue with `from` and with that lease (or empty, or none), and if that lease is a waiter's, how often
-- the name is left free for other clients, as in release.lua
-- include queue.lua
-- include record.lua
-- include count.lua
local plain, companion = unpack(KEYS)
-- include queue_key.lua
local from = ARGV[2]
local to, ttl = new_lease(ARGV[3], ARGV[4], ARGV[5])
local record = load_counted(plain, companion, {from, to.id})
local lease, successor = record.live[from], record.live[to.id]

local function leave(member)
  if member and member ~= '' then
    redis.pcall('ZREM', queue, member)
  end
end

leave(ARGV[6])  -- a holder does not wait for what it hands on

if not lease and not successor then
  return {'lost'}
end
if lease and successor and lease ~= successor then
  return conflict('the lease id to hand over to holds the name already')
end
local current = lease or successor
local is_less = lease and to.permits < current.permits
if current.capacity ~= to.capacity or (current.permits ~= to.permits and not is_less) then
  return conflict('a lease is handed over with the permits it has, or fewer of the same capacity')
end
if successor and not is_less then
  leave(ARGV[7])
  if successor.words == unconfirmed then  -- granted by a release: this confirms it
    successor.words, successor.expires = to.words, now
    prolong(successor, plain, companion, ttl, record.kept_until)
  end
  return same_grant(successor)
end
local is_to_yield = record.note and yields(record.note, tonumber(ARGV[8]) or 0)
if not is_less and (held_back_for(record, to) > 0 or is_to_yield) then
  return {'held back'}
end
if not record.note then
  take_out(record, companion, {lease})
end
stop_waiting(record, companion, to.id)
leave(ARGV[7])
local granted = grant(record, plain, companion, to, ttl)
if is_less then
  wake(record, queue, plain)
end
return granted
