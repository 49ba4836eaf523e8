-- Counts hits if they fit under the limit: how many count now, how many more may, when none of them
-- counts any more, and when to try again (0: they were allowed).
-- KEYS plain, companion   ARGV …, limit, period, fixed or sliding, count
-- include record.lua
local plain, companion = unpack(KEYS)
local limit, period, count = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[5])
local wanted = math.max(count, 1)
-- The same as in store/hit.h and store/hit_rules.cc.
local steps, longest_log = 256, 1024
local record = load(plain, companion)

local function outcome(hits, resets_in, retry_after)
  return {'hit', hits, math.max(limit - hits, 0), resets_in, retry_after}
end

local function hit_fixed()
  local is_live = has_fixed_window(record)
  local before = is_live and record.hits or 0
  local ends = is_live and record.window or now + period
  if before + wanted > limit then
    return outcome(before, ends - now, ends - now)
  end
  if count > 0 then
    sweep_to_hash(record, plain, companion)
    redis.call('HDEL', companion, 'log')
    redis.call('HSET', companion, 'hits', digits(before + count), 'window', digits(ends))
    keep(companion, ends - now)
  end
  return outcome(before + count, (is_live or count > 0) and ends - now or 0, 0)
end

local function retry_after(hits)
  for _, each in ipairs(record.log) do
    hits = hits - each.count
    if hits + wanted <= limit then
      return each.ends - now
    end
  end
end

local function add()
  local log, ends = record.log, now + period
  local latest = ends + (limit <= steps and 0 or math.floor(period / steps))
  local place = #log + 1
  while log[place - 1] and log[place - 1].ends >= ends do
    place = place - 1
  end
  local next = log[place]
  if not (next and next.ends <= latest) and #log < longest_log then
    table.insert(log, place, {ends = latest, count = count})
  elseif next then
    next.count = next.count + count
  else
    log[#log] = {ends = latest, count = log[#log].count + count}
  end
end

local function save_log()
  local texts = {}
  for i, each in ipairs(record.log) do
    texts[i] = digits(each.ends) .. ' ' .. digits(each.count)
  end
  redis.call('HSET', companion, 'log', table.concat(texts, ' '))
  keep(companion, record.log[#record.log].ends - now)
end

local function resets_in()
  local last = record.log[#record.log]
  return last and last.ends - now or 0
end

local function hit_sliding()
  local before = 0
  for _, each in ipairs(record.log) do
    before = before + each.count
  end
  if before + wanted > limit then
    return outcome(before, resets_in(), retry_after(before))
  end
  if count > 0 then
    add()
    sweep_to_hash(record, plain, companion)
    save_log()
  end
  return outcome(before + count, resets_in(), 0)
end

-- Forgets the hits of either window.
local function forget()
  local before = has_fixed_window(record) and record.hits or 0
  for _, each in ipairs(record.log) do
    before = before + each.count
  end
  if before > 0 then
    redis.call('HDEL', companion, 'hits', 'window', 'log')
  end
  return outcome(before, 0, 0)
end

if is_held(record) then
  return conflict('the name is leased: it cannot count hits at the same time')
end
if limit == 0 and count == 0 then
  return forget()
end
if ARGV[4] == 'fixed' then
  if record.log[1] then
    return conflict('the name counts hits in a sliding window: it cannot have a fixed one, too')
  end
  return hit_fixed()
end
if has_fixed_window(record) then
  return conflict('the name counts hits in a fixed window: it cannot have a sliding one, too')
end
return hit_sliding()
