-- Passes on a hint to the next store that waits.
-- KEYS plain, companion   ARGV …
-- include queue.lua
local plain, companion = unpack(KEYS)
-- include queue_key.lua
wake_one(queue, plain)
