-- Passes on a hint to the next store that waits.
-- KEYS plain, queue
-- include queue.lua
wake_one(KEYS[2], KEYS[1])
