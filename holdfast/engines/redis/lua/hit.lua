-- Counts one hit in the current window: whether it is allowed, how many more are, when it ends.
-- KEYS plain, companion   ARGV …, limit, period
local plain, companion = unpack(KEYS)
local limit, period = tonumber(ARGV[4]), tonumber(ARGV[5])
local record = load(plain, companion)

if is_held(record) then
  return conflict('the name is leased: it cannot count hits at the same time')
end
local hits, window = record.hits, record.window
if not counts_hits(record) then
  hits, window = 0, now + period
end
if hits >= limit then
  return {'hit', 0, 0, window - now}
end
hits = hits + 1
sweep(record, plain, companion)
redis.call('HSET', companion, 'hits', hits, 'window', digits(window))
keep(companion, window - now)
return {'hit', 1, limit - hits, window - now}
