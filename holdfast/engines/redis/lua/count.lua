-- Leases that are counted: no operation on one lease reads the others, however many hold the name.
--
-- Beside the leases, the hash has `count`: `token used capacity`, with the permits of all its leases; and
-- the key `ends`, a sorted set, has the ids of these leases by the time at which they end. The count
-- holds while its token is the last one of the name, and the two keys have as many leases. Otherwise
-- a former version of Holdfast, which knows neither, has granted, released or removed a lease, or `ends`
-- was lost: all leases are then read and counted again. A former version that renews a lease leaves
-- `ends` too early: a lease is removed only if its own field says that it has ended.

-- The most ended leases that one operation removes.
local page, most_pages = 128, 8

-- The most holders that a refusal names.
local most_holders = 16

local function count_text(record)
  return table.concat({digits(record.token), digits(record.used), digits(record.capacity)}, ' ')
end

local function save_count(record, companion)
  if not record.is_counted then
    return
  end
  if record.number > 0 then
    redis.call('HSET', companion, 'count', count_text(record))
  else
    redis.call('HDEL', companion, 'count')
  end
end

-- Removes leases, of which there are no more than a page. `save_count` has to follow.
local function take_out(record, companion, leases)
  if not leases[1] then
    return
  end
  local ids = {}
  for i, lease in ipairs(leases) do
    ids[i] = lease.id
    record.live[lease.id] = nil
    record.used, record.number = record.used - lease.permits, record.number - 1
  end
  redis.call('HDEL', companion, unpack(ids))
  redis.call('ZREM', ends_of(companion), unpack(ids))
end

-- Reads these leases of the hash, of which there are no more than a page.
local function read_leases(companion, ids)
  local leases = {}
  if ids[1] then
    for i, text in ipairs(redis.call('HMGET', companion, unpack(ids))) do
      leases[i] = decode(ids[i], text or '')
    end
  end
  return leases
end

-- Reads all leases, and counts those that are live. A mutex, which a former version kept in the hash, is
-- not counted.
local function count_again(record, companion)
  load_hash(record, redis.call('HGETALL', companion))
  if record.capacity == 1 then
    return
  end
  local ends = ends_of(companion)
  redis.call('DEL', ends)
  for id in pairs(record.ended) do
    redis.call('HDEL', companion, id)
  end
  local last = now
  for _, lease in ipairs(record.leases) do
    redis.call('ZADD', ends, digits(lease.expires), lease.id)
    last = math.max(last, lease.expires)
  end
  keep(ends, last - now)
  record.is_counted = true
  save_count(record, companion)
end

-- Removes what has ended. `has_more`: it was too much for one operation.
local function remove_ended(record, companion)
  local ends = ends_of(companion)
  for i = 1, most_pages + 1 do
    local ids = redis.call('ZRANGE', ends, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, page)
    if not ids[1] then
      return
    end
    if i > most_pages then
      record.has_more = true
      return
    end
    local ended = {}
    for _, lease in ipairs(read_leases(companion, ids)) do
      if lease.expires > now then
        redis.call('ZADD', ends, digits(lease.expires), lease.id)
      else
        ended[#ended + 1] = lease
      end
    end
    take_out(record, companion, ended)
    save_count(record, companion)
  end
end

-- Reads one lease, if it is there and live.
local function find(record, companion, id)
  local text = redis.call('HGET', companion, id)
  if not text then
    return
  end
  local lease = decode(id, text)
  if lease.expires > now then
    record.live[id] = lease
  else
    record.ended[id] = true
    take_out(record, companion, {lease})
    save_count(record, companion)
  end
end

local count_fields = {'token', 'hits', 'window', 'log', 'waits', 'count'}

local function load_counted_hash(record, companion, ids)
  local fields, others = {}, 0
  for i, value in ipairs(redis.call('HMGET', companion, unpack(count_fields))) do
    if value then
      fields[#fields + 1], fields[#fields + 2] = count_fields[i], value
      others = others + 1
    end
  end
  local number = redis.call('ZCARD', ends_of(companion))
  local is_right = redis.call('HLEN', companion) - others == number
  load_hash(record, fields)
  local count = record.count
  if not is_right or (number > 0 and not (count and count.token == record.token)) then
    return count_again(record, companion)
  end
  record.is_counted, record.number = true, number
  if number > 0 then
    record.used, record.capacity = count.used, count.capacity
    for _, id in ipairs(ids) do
      find(record, companion, id)
    end
    remove_ended(record, companion)
  end
end

-- Like `load`, but of the leases in a hash only those with these ids are in `live`, and none in `leases`.
local function load_counted(plain, companion, ids)
  return load(plain, companion, function(record) load_counted_hash(record, companion, ids) end)
end

-- The leases that a refusal names: those that end first, in the order in which they were granted.
local function some_leases(record, companion)
  if not record.is_counted then
    return record.leases
  end
  local leases = read_leases(companion, redis.call('ZRANGE', ends_of(companion), '(' .. digits(now),
    '+inf', 'BYSCORE', 'LIMIT', 0, most_holders))
  table.sort(leases, by_token)
  return leases
end

-- Returns the time at which so many leases will have ended that `lease` fits: of those that end first, enough must have
-- ended, and of those that end last, as many as leave room may stay. Reads the fewer of the two, and at most a page: if
-- that is not enough, the name is not free before the returned time.
local function frees_in(record, companion, lease)
  if not record.is_counted then
    return record.leases[1].expires - now
  end
  local to_end, may_stay = record.used + lease.permits - lease.capacity, lease.capacity - lease.permits
  local ends, ids, limit = ends_of(companion), nil, to_end - 1
  if to_end <= may_stay + 1 or may_stay >= page then
    ids = redis.call('ZRANGE', ends, 0, math.min(to_end, page) - 1)
  else
    ids, limit = redis.call('ZRANGE', ends, 0, may_stay, 'REV'), may_stay
  end
  local sum, expires = 0, now
  for _, each in ipairs(read_leases(companion, ids)) do
    sum, expires = sum + each.permits, each.expires
    if sum > limit then
      break
    end
  end
  return expires - now
end

-- Stores a new lease with a new token.
local function grant(record, plain, companion, lease, ttl)
  lease.token = math.max(record.token + 1, now)
  lease.granted = now
  lease.expires = now + ttl
  if lease.capacity == 1 then
    -- First the plain key: if time passes in between, the companion must still be the last to go, or
    -- what is left would look like somebody else's.
    redis.call('SET', plain, lease.id, 'PX', milliseconds(ttl) + grace)
    write_note(companion, lease, record.kept_until)
    return {'grant', lease.token, ttl}
  end
  sweep_to_hash(record, plain, companion)
  record.token, record.capacity = lease.token, lease.capacity
  record.used, record.number = record.used + lease.permits, record.number + 1
  redis.call('HSET', companion, 'token', digits(lease.token), lease.id, encode(lease),
    'count', count_text(record))
  redis.call('ZADD', ends_of(companion), digits(lease.expires), lease.id)
  keep(companion, ttl)
  keep(ends_of(companion), ttl)
  return {'grant', lease.token, ttl}
end
