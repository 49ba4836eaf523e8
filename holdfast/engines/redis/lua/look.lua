-- The live leases of names, for each the capacity and the holders, or why they cannot be read. A store
-- that watches the name goes on waiting if it is held; else it passes on the hint that brought it here.
-- For a listing, a string without an expiry is no lock of another program, but somebody's data.
-- KEYS plain, companion of each   ARGV …, store (or empty), `listing` (or none)
-- include queue.lua
-- include record.lua
local store, is_listing = ARGV[2], ARGV[3] == 'listing'

local function look(plain, companion)
  -- include queue_key.lua
  local loaded, record = pcall(load, plain, companion)
  if not loaded then
    return {'unreadable', type(record) == 'table' and record.err or tostring(record)}
  end
  if is_listing and record.foreign and record.foreign.left < 0 then
    record.foreign = nil
  end
  if store ~= '' then
    if is_held(record) or yields_for(record) > 0 then
      wait_in(queue, store, digits(now))
    else
      wake_one(queue, plain)
    end
  end
  return {'held', is_held(record) and record.capacity or 0, holders(record, record.leases)}
end

local states = {}
for i = 1, #KEYS, 2 do
  states[#states + 1] = look(KEYS[i], KEYS[i + 1])
end
return states
