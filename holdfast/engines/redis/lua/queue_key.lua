-- The key of the queue. It is made from another key of the name, and so is in its slot: one more declared
-- key would cost each claim of a mutex that nobody waits for. No function: to make one costs more.
local queue = 'hfq:' .. string.sub(companion, 4)
