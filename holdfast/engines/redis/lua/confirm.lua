-- Confirms the mutex that a release has granted to this claim (see give.lua): the lease lasts for the
-- claim's ttl from now, and has its owner and reason. The usual case; claim.lua says the rest at length,
-- and whether a token that give.lua has not written is one that we can have written at all.
-- include note.lua
if holder == id and words == '0 ' and last_token == granted_at and #last_token == #token then
  call('PEXPIRE', plain, expiry)
  call('SET', companion, last_token .. ' ' .. kept_until .. ' ' .. token .. ' ' .. lease, 'KEEPTTL')
  return last_token
end
