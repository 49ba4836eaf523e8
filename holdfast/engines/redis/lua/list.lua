-- What is at the keys of names, for a listing: the server's time, and the texts, of which those that are
-- no strings are missing. The store reads the notes itself (internal/held_mutex.h), so that the server
-- does not build records and answers for them, as look.lua does.
-- KEYS plain, companion of each   ARGV …
-- include record.lua
return {now, redis.call('MGET', unpack(KEYS))}
