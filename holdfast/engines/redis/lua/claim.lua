-- Grants the name, or says who holds it, in which case `store` waits for it (if not empty).
-- KEYS plain, companion, queue   ARGV …, id, owner, reason, ttl, permits, capacity, store
local plain, companion, queue = unpack(KEYS)
local lease = {
  id = ARGV[4], owner = ARGV[5], reason = ARGV[6], permits = tonumber(ARGV[8]),
  capacity = tonumber(ARGV[9])
}
local ttl, store = tonumber(ARGV[7]), ARGV[10]
local record = load(plain, companion)

local function frees_in()
  if record.foreign then
    return record.foreign.left
  end
  local by_expiry = {}
  for i, each in ipairs(record.leases) do
    by_expiry[i] = each
  end
  table.sort(by_expiry, function(one, other) return one.expires < other.expires end)
  local used = record.used
  for _, each in ipairs(by_expiry) do
    used = used - each.permits
    if used + lease.permits <= lease.capacity then
      return each.expires - now
    end
  end
end

if counts_hits(record) then
  return conflict('the name counts hits: it cannot be leased at the same time')
end
local mine = record.live[lease.id]
if mine then
  if mine.permits ~= lease.permits or mine.capacity ~= lease.capacity then
    return conflict('this lease id holds the name with other permits')
  end
  return same_grant(mine)
end
if is_held(record) and record.capacity ~= lease.capacity then
  return conflict('the name is held with a capacity of ' .. digits(record.capacity) .. ', not ' ..
    digits(lease.capacity))
end
local used = record.used + lease.permits
if record.foreign or used > lease.capacity then
  wait_in(queue, store)
  return {'busy', frees_in(), holders(record)}
end
local granted = grant(record, plain, companion, lease, ttl)
if used < lease.capacity then
  wake_one(queue, plain)  -- there may be room for the next, too
end
return granted
