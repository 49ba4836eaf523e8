-- The server's time, `second` and `token`: the token that is minted now, microseconds in 16 digits.
local time = call('TIME')
local second, fraction = time[1], time[2]
local token = second .. (#fraction == 6 and '' or string.rep('0', 6 - #fraction)) .. fraction
