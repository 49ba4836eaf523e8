-- Passes on a hint to the next store that waits.
-- KEYS plain, queue
wake_one(KEYS[2], KEYS[1])
