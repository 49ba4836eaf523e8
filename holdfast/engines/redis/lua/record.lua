-- The common part of all operations: the format of a name, and which of its leases are live. It restates
-- store/lease_rules.cc; redis.Differential compares the two.
--
-- A name has up to four keys, all in one slot:
--   plain      a string, the id of the lease that has it as a mutex: what other programs lock with
--   companion  of a mutex a string, the note: see `encode_note`. It stays when the lease has ended, for
--              its token. Of everything else a hash: `token`, the last one of the name; under its id
--              each lease: see `encode`; and only where they are needed `count`, of the leases: see
--              count.lua, `hits` and `window`, of the current fixed window and when it ends, `log`, the
--              sliding one: see `decode_log`, and `waits`, claims that hold back others: see
--              `decode_waits`
--   queue      a sorted set: the waiters for the name, the first to come first: see queue.lua
--   ends       a sorted set: the leases in the hash, the first to end first: see count.lua
--
-- Times are microseconds of the server's clock. The first argument is always for how many milliseconds
-- the last token is remembered; and in tests, which have a time of their own, two more numbers:
--   by how many milliseconds Redis' own expiry of the plain key comes later than the lease's end, so
--   that the latter decides
--   the time

local retention, grace, now = string.match(ARGV[1], '^(%d+) ?(%d*) ?(%d*)$')
retention, grace, now = tonumber(retention), tonumber(grace) or @GraceMs@, tonumber(now)
local is_servers_time = not now
if is_servers_time then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

-- tostring() would round.
local function digits(number)
  return string.format('%.0f', number)
end

local function milliseconds(microseconds)
  return math.ceil(microseconds / 1000)
end

-- The key `ends` of a name: made here, as that of the queue (see queue_key.lua).
local function ends_of(companion)
  return 'hfe:' .. string.sub(companion, 4)
end

-- The words of a lease are the size of its owner, then owner and reason. `text` is `ttl id words`.
local function new_lease(text, permits, capacity)
  local ttl, id, words = string.match(text, '^(%d+) (%x+) (.*)$')
  return {
    id = id, words = words, permits = tonumber(permits), capacity = tonumber(capacity)
  }, tonumber(ttl)
end

local function encode(lease)
  return table.concat({
    digits(lease.expires), digits(lease.permits), digits(lease.capacity), digits(lease.token),
    digits(lease.granted), lease.words
  }, ' ')
end

-- Writes the note of a mutex. It begins with the last token, and the second until which the key is kept at least.
local function encode_note(lease, kept_until)
  return table.concat({
    digits(lease.token), digits(kept_until), digits(lease.granted),
    digits(lease.expires - lease.granted), lease.id, lease.words
  }, ' ')
end

local function corrupt()
  error({err = 'CORRUPT a lease is in no format that is known'})
end

-- Numbers beyond this are not exact, so we have not written them. Nor have we written 1e5, nan or 0x1f.
local greatest = 9007199254740991

local function stored_number(text)
  local number = string.match(text, '^%d+$') and tonumber(text)
  if not number or number > greatest then
    corrupt()
  end
  return number
end

-- Tokens are the server's clock, or a little more. A clock that was set back leaves tokens ahead of it;
-- one that is a year ahead was not minted by us, and would lock everybody out of a fence for as long.
local furthest_ahead = 366 * 86400 * 1000000

local function stored_token(text)
  local token = stored_number(text)
  if token > now + furthest_ahead then
    corrupt()
  end
  return token
end

local function decode(id, text)
  local expires, permits, capacity, token, granted, words =
    string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+ .*)$')
  if not words then
    corrupt()
  end
  return {
    id = id, expires = stored_number(expires), permits = stored_number(permits),
    capacity = stored_number(capacity), token = stored_token(token), granted = stored_number(granted),
    words = words
  }
end

-- The lease, and until when it is kept.
local function decode_note(text)
  local token, kept_until, granted, lasts, id, words =
    string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%x+) (%d+ .*)$')
  if not words then
    corrupt()
  end
  granted = stored_number(granted)
  return {
    id = id, expires = granted + stored_number(lasts), permits = 1, capacity = 1,
    token = stored_token(token), granted = granted, words = words
  }, stored_number(kept_until)
end

-- The fields of the companion that are not leases.
local numbers = {token = stored_token, hits = stored_number, window = stored_number}

-- The hits of a sliding window that still count, the first to end first: when they end, and how many.
local function decode_log(text)
  local log = {}
  for ends, count in string.gmatch(text, '(%d+) (%d+)') do
    if stored_number(ends) > now then
      log[#log + 1] = {ends = stored_number(ends), count = stored_number(count)}
    end
  end
  return log
end

-- Reads the claims that still hold others back. `store` gets a hint when there may be room; `-` if no store
-- listens.
local function decode_waits(text)
  local waits = {}
  for id, ends, permits, capacity, store in string.gmatch(text, '(%x+) (%d+) (%d+) (%d+) (%S+)') do
    if stored_number(ends) > now then
      waits[#waits + 1] = {
        id = id, ends = stored_number(ends), permits = stored_number(permits),
        capacity = stored_number(capacity), store = store
      }
    end
  end
  return waits
end

local function decode_count(text)
  local token, used, capacity = string.match(text, '^(%d+) (%d+) (%d+)$')
  if not capacity then
    corrupt()
  end
  return {
    token = stored_token(token), used = stored_number(used), capacity = stored_number(capacity)
  }
end

-- A mutex is held only while the plain key says so.
local function is_live(lease, value)
  return lease.expires > now and (lease.capacity ~= 1 or lease.id == value)
end

local function add_lease(record, lease)
  if is_live(lease, record.value) then
    record.live[lease.id] = lease
    record.leases[#record.leases + 1] = lease
    record.used, record.number = record.used + lease.permits, record.number + 1
    record.capacity = lease.capacity
  else
    record.ended[lease.id] = true
  end
end

-- The id in the note of a name that is left free for other clients: see `yields` below.
local yielding = '0'

local function load_note(record, text)
  local lease, kept_until = decode_note(text)
  record.token, record.note, record.kept_until = lease.token, lease, kept_until
  -- The key of another client may have any value, this id, too.
  if lease.id ~= yielding then
    add_lease(record, lease)
  end
end

-- In the order in which they were granted.
local function by_token(one, other)
  return one.token < other.token
end

local function load_hash(record, fields)
  for i = 1, #fields, 2 do
    local id = fields[i]
    if #id == 32 then
      add_lease(record, decode(id, fields[i + 1]))
    elseif numbers[id] then
      record[id] = numbers[id](fields[i + 1])
    elseif id == 'log' then
      record.log = decode_log(fields[i + 1])
    elseif id == 'waits' then
      record.waits, record.has_waits = decode_waits(fields[i + 1]), true
    elseif id == 'count' then
      record.count = decode_count(fields[i + 1])
    end
  end
  table.sort(record.leases, by_token)
end

local function is_note(companion)
  return redis.call('TYPE', companion).ok == 'string'
end

-- `load_other` reads what is no note; without it, all of it is read.
local function load(plain, companion, load_other)
  local record = {
    token = 0, hits = 0, window = 0, log = {}, waits = {}, live = {}, leases = {}, ended = {}, used = 0,
    number = 0
  }
  record.value = redis.call('GET', plain)
  if is_note(companion) then
    load_note(record, redis.call('GET', companion))
  elseif load_other then
    load_other(record)
  else
    load_hash(record, redis.call('HGETALL', companion))
  end
  -- A value that we did not write is the mutex of another program.
  if record.value and not record.live[record.value] and not record.ended[record.value] then
    local left = redis.call('PTTL', plain)
    record.foreign = {value = record.value, left = left < 0 and -1 or left * 1000}
    record.capacity = 1
  end
  return record
end

local function is_held(record)
  return record.foreign or record.number > 0
end

local function has_fixed_window(record)
  return record.hits > 0 and record.window > now
end

local function counts_hits(record)
  return has_fixed_window(record) or record.log[1]
end

-- The companion outlives what it tells of, and then remembers the last token.
local function keep(companion, time)
  local needed = milliseconds(time) + grace + retention
  if redis.call('PTTL', companion) < needed then
    redis.call('PEXPIRE', companion, needed)
  end
end

-- The same for a mutex. To set an expiry costs as much as all the rest: it is set for longer than
-- needed, and not each time.
local function write_note(companion, lease, kept_until)
  local second = math.floor(now / 1000000)
  local needed = math.ceil((lease.expires - now) / 1000000 + (grace + retention) / 1000)
  -- The second has begun already.
  if kept_until and kept_until > second + needed then
    redis.call('SET', companion, encode_note(lease, kept_until), 'KEEPTTL')
  else
    local lasts = needed + math.ceil(retention / 2000)
    redis.call('SET', companion, encode_note(lease, second + lasts), 'EX', lasts)
  end
end

-- A mutex for which claims wait goes from one to the next without being free in between. So that other
-- clients get in, which poll for it, the first release in each period leaves it free for a part of that
-- period: it yields. Until then no claim of ours is granted; the note has a lease that nobody holds, and
-- says that it is not kept for long, so that claim.lua reads on.
--
-- Returns whether the release or transfer of this lease, which is a mutex, is to leave the name free. `every` is the
-- period in microseconds, 0 for never.
local function yields(lease, every)
  return is_servers_time and every > 0 and math.floor(lease.granted / every) ~= math.floor(now / every)
end

local function yield(companion, token, every)
  local lease = {
    id = yielding, words = '0 ', token = token, granted = now,
    expires = now + math.floor(every / @YieldParts@)
  }
  redis.call('SET', companion, encode_note(lease, 0), 'PX', retention + milliseconds(every))
end

-- Returns the time for which the name is still left free.
local function yields_for(record)
  local note = record.note
  return note and note.id == yielding and math.max(note.expires - now, 0) or 0
end

-- Removes what has ended, and nothing that is not ours.
local function sweep(record, plain, companion)
  if record.ended[record.value] then
    redis.call('DEL', plain)
  end
  if record.note then
    return  -- the note is good for its token
  end
  if not record.is_counted then
    for id in pairs(record.ended) do
      redis.call('HDEL', companion, id)
    end
    if record.count then
      redis.call('HDEL', companion, 'count')
      redis.call('DEL', ends_of(companion))
    end
  end
  if record.hits > 0 and not has_fixed_window(record) then
    redis.call('HDEL', companion, 'hits', 'window')
  end
end

-- For a name that is no mutex.
local function sweep_to_hash(record, plain, companion)
  sweep(record, plain, companion)
  if record.note then
    redis.call('DEL', companion, ends_of(companion))
    redis.call('HSET', companion, 'token', digits(record.token))
    record.note, record.is_counted = nil, true
  end
end

-- Says the same as `held_back_for`, `stop_waiting` and `wait_on` of the rules.
local max_waiting = 8

local function held_back_for(record, lease)
  local longest = 0
  for _, wait in ipairs(record.waits) do
    if wait.id ~= lease.id and wait.permits > lease.permits then
      longest = math.max(longest, wait.ends - now)
    end
  end
  return longest
end

local function save_waits(record, companion)
  local texts = {}
  for i, wait in ipairs(record.waits) do
    texts[i] = table.concat({
      wait.id, digits(wait.ends), digits(wait.permits), digits(wait.capacity), wait.store
    }, ' ')
    keep(companion, wait.ends - now)
  end
  if texts[1] then
    redis.call('HSET', companion, 'waits', table.concat(texts, ' '))
  elseif record.has_waits then
    redis.call('HDEL', companion, 'waits')
  end
end

-- Returns whether it did wait.
local function stop_waiting(record, companion, id)
  for i, wait in ipairs(record.waits) do
    if wait.id == id then
      table.remove(record.waits, i)
      save_waits(record, companion)
      return true
    end
  end
  return false
end

local function wait_on(record, companion, lease, holds_back, store)
  stop_waiting(record, companion, lease.id)
  if holds_back == 0 or lease.capacity == 1 then
    return
  end
  local waits = record.waits
  waits[#waits + 1] = {
    id = lease.id, ends = now + holds_back, permits = lease.permits, capacity = lease.capacity,
    store = store ~= '' and store or '-'
  }
  if #waits > max_waiting then
    local first = 1
    for i, wait in ipairs(waits) do
      if wait.ends < waits[first].ends then
        first = i
      end
    end
    table.remove(waits, first)
  end
  save_waits(record, companion)
end

-- Lets a lease last for its ttl from now. Never shortens it. `kept_until` is a mutex's.
local function prolong(lease, plain, companion, ttl, kept_until)
  if now + ttl <= lease.expires then
    return
  end
  lease.expires = now + ttl
  if lease.capacity == 1 then
    redis.call('PEXPIRE', plain, milliseconds(ttl) + grace)
    write_note(companion, lease, kept_until)  -- after the plain key, as in `grant`
  else
    redis.call('HSET', companion, lease.id, encode(lease))
    redis.call('ZADD', ends_of(companion), 'XX', digits(lease.expires), lease.id)
    keep(companion, ttl)
    keep(ends_of(companion), ttl)
  end
end

local function same_grant(lease)
  return {'grant', lease.token, lease.expires - now}
end

local function conflict(why)
  return {'conflict', why}
end

-- The words of a lease that a release has granted (see give.lua), until its holder has confirmed it: no
-- owner, which no claim has.
local unconfirmed = '0 '

-- id, owner, reason, permits, token, held for, time left, foreign
local function holders(record, leases)
  local list = {}
  for i, lease in ipairs(leases) do
    local words_of_lease = lease.words == unconfirmed and '27 a waiter, not confirmed yet' or lease.words
    local size, words = string.match(words_of_lease, '^(%d+) (.*)$')
    list[i] = {
      lease.id, string.sub(words, 1, size), string.sub(words, size + 1), lease.permits, lease.token,
      now - lease.granted, lease.expires - now, 0
    }
  end
  local foreign = record.foreign
  if foreign then
    list[#list + 1] = {'', string.sub(foreign.value, 1, 256), '', 1, 0, 0, foreign.left, 1}
  end
  return list
end
