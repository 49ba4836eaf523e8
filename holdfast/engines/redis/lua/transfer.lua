-- Replaces the lease `from` by another with the same permits.
-- KEYS plain, companion   ARGV …, from, id, owner, reason, ttl, permits, capacity
local plain, companion = unpack(KEYS)
local from = ARGV[4]
local to = {
  id = ARGV[5], owner = ARGV[6], reason = ARGV[7], permits = tonumber(ARGV[9]),
  capacity = tonumber(ARGV[10])
}
local record = load(plain, companion)
local lease, successor = record.live[from], record.live[to.id]

if not lease and not successor then
  return {'lost'}
end
if lease and successor then
  return conflict('the lease id to hand over to holds the name already')
end
local current = lease or successor
if current.permits ~= to.permits or current.capacity ~= to.capacity then
  return conflict('a lease is handed over with the permits it has')
end
if successor then
  return same_grant(successor)
end
record.ended[from] = true
return grant(record, plain, companion, to, tonumber(ARGV[8]))
