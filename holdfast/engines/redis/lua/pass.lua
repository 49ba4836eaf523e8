-- Passes on a hint to the next store that waits.
-- KEYS plain, companion   ARGV …
-- include queue.lua
wake_one(queue_of(KEYS[2]), KEYS[1])
