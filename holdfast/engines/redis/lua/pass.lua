-- Passes on a hint to the next store that waits.
-- KEYS plain, companion, queue   ARGV …
-- include queue.lua
wake_one(KEYS[3], KEYS[1])
