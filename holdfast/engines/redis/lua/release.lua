#!lua flags=allow-oom
-- Removes exactly this lease, or ends its waiting: 1 if it was there, else 0. The mutex is then granted
-- to the first claim in the queue; a store without a claim gets a hint. If a caller waits at the store that
-- releases (given only then), the store joins the queue at its end.
-- KEYS plain, companion   ARGV …, id, store, the member of the queue with this id (or empty, or none),
-- how often the name is left free for other clients, in microseconds (or none: never)
-- Or, by the server's clock, several leases, at whose store nobody waits: the keys of each, then the id
-- of each. The answer is an array then, for each 1; or false if it is not a usual case, and nothing was
-- done.
local retention = tonumber(ARGV[1])  -- where the time is the server's
local call = redis.call

if #KEYS > 2 then
  local answers = {}
  for i = 1, #KEYS / 2 do
    local plain, companion, freed = KEYS[2 * i - 1], KEYS[2 * i], false
    -- include queue_key.lua
    -- No error may end the script: names before this one may be free already.
    if redis.pcall('GET', plain) == ARGV[i + 1] and redis.pcall('EXISTS', queue) == 0 then
      -- include free.lua
    end
    answers[i] = freed
  end
  return answers
end

local plain, companion = KEYS[1], KEYS[2]
-- include queue_key.lua
local id, store = ARGV[2], ARGV[3] or ''

local member = ARGV[4] ~= '' and ARGV[4]
if member then
  redis.pcall('ZREM', queue, member)
end

-- The usual cases: nobody waits for a mutex, or somebody's turn has come.
local given_at
if retention and call('GET', plain) == id then
  local first, joined = unpack(redis.pcall('ZPOPMIN', queue))
  if first then
    -- include give.lua
    if given and store == '' then
      return 1
    end
    given_at = given
  elseif store == '' then
    local freed
    -- include free.lua
    if freed then
      return 1
    end
  end
end
-- include queue.lua
if given_at then
  wait_in(queue, store, given_at)
  return 1
end
-- include record.lua
-- include count.lua
local record = load_counted(plain, companion, {id})
-- The plain key alone says that it is ours where the companion was lost.
local was_held = record.live[id] ~= nil or (record.value == id and not record.ended[id])

if record.live[id] and not record.note then
  take_out(record, companion, {record.live[id]})
  save_count(record, companion)
end
record.ended[id] = true
sweep(record, plain, companion)
local did_wait = stop_waiting(record, companion, id)
if not was_held and not did_wait then
  if member then
    -- It may have been in the queue for other callers of its store, or have got a hint in their place.
    wait_in(queue, store, digits(now))
    if not is_held(record) then
      wake_one(queue, plain)
    end
  end
  return 0
end
local every = tonumber(ARGV[5]) or 0
local is_to_yield = was_held and record.note and yields(record.note, every)
if record.note then
  -- Not before it began, should the clock have gone back since.
  record.note.expires = math.max(record.note.granted, math.min(record.note.expires, now))
  write_note(companion, record.note)
elseif record.number == 0 and not counts_hits(record) and not record.waits[1] then
  redis.call('PEXPIRE', companion, retention)
end
wait_in(queue, store, digits(now))
if is_to_yield and hint_first(queue, plain) then
  yield(companion, record.token, every)
else
  wake(record, queue, plain)
end
return was_held and 1 or 0
