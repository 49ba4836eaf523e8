-- Takes the mutex `plain` for `id` if nobody has it, and writes its note: what claim.lua says at length, with few
-- calls and numbers that have to be made from text. Sets `granted` if so; otherwise nothing was done.
local note = redis.pcall('GET', companion)
-- After the token, with a blank in front.
local kept_until = type(note) == 'string' and note < token and string.sub(note, 17, 27)
-- The second has begun already.
local is_kept = kept_until and
  (tonumber(kept_until) or 0) - second - 1 > (expiry + retention) / 1000
granted = (is_kept or not note) and call('SET', plain, id, 'NX', 'PX', expiry)
if granted then
  if is_kept then
    call('SET', companion, token .. kept_until .. ' ' .. token .. ' ' .. lease, 'KEEPTTL')
  else
    local lasts = math.ceil((expiry + retention) / 1000) + math.ceil(retention / 2000)
    call('SET', companion, token .. ' ' .. second + lasts .. ' ' .. token .. ' ' .. lease, 'EX', lasts)
  end
end
