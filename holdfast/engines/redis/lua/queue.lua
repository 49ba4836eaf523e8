-- Who waits for a name, and how they are told that it may be free.

-- What was done stays done, whether or not this user may publish.
local function tell(store, plain)
  local heard = redis.pcall('PUBLISH', 'hf:wake:' .. store, plain)
  return type(heard) == 'number' and heard > 0
end

-- Tells the store that has waited longest, and is still there.
local function wake_one(queue, plain)
  local store
  repeat
    store = redis.call('ZPOPMIN', queue)[1]
  until not store or tell(store, plain)
end

-- Tells those who hold back the others, for nobody else gets in, or else the first who waits.
local function wake(record, queue, plain)
  local heard = false
  for _, wait in ipairs(record.waits) do
    heard = wait.store ~= '-' and tell(wait.store, plain) or heard
  end
  if not heard then
    wake_one(queue, plain)
  end
end
