#!lua flags=allow-oom
-- The store waits for the name, or hears at once that there is room.
-- KEYS plain, companion   ARGV …, store
-- include queue.lua
-- include record.lua
-- include count.lua
local plain, companion = unpack(KEYS)
-- include queue_key.lua
local record = load_counted(plain, companion, {})

if is_held(record) and (record.foreign or record.used >= record.capacity) and not record.has_more then
  wait_in(queue, ARGV[2], digits(now))
else
  tell(ARGV[2], plain)
end
