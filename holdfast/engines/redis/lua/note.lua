-- Reads the note of a mutex (see `encode_note` in record.lua). `holder` is nil unless its lease is live
-- and was granted before `token`, and the note is kept for long enough for a lease of `expiry`
-- milliseconds: what record.lua says at length.
local held = redis.pcall('GET', companion)
local last_token, kept_until, granted_at, lasts, holder, words =
  string.match(type(held) == 'string' and held or '', '^(%d+) (%d+) (%d+) (%d+) (%x+) (.*)$')
if holder and not (held < token and granted_at + lasts > tonumber(token) and
  tonumber(kept_until) > second + math.ceil((expiry + retention) / 1000)) then
  holder = nil
end
