-- kApplicationId: whose file this is.
PRAGMA application_id;

-- kUserVersion
PRAGMA user_version;

-- kIdentify: the same, and how much is in the file, all of one moment. Takes SQLite ten times as long.
SELECT
  (SELECT application_id FROM pragma_application_id),
  (SELECT user_version FROM pragma_user_version),
  (SELECT count(*) FROM sqlite_schema);

-- kForeignCode: what a file has that Holdfast never puts there, as a text.
SELECT 'it has the ' || type || ' ' || name FROM sqlite_schema
WHERE type IN ('trigger', 'view')
   OR (type = 'index' AND tbl_name IN ('meta', 'records', 'leases', 'queue', 'objects', 'object_data')
       AND name NOT IN ('leases_by_end', 'objects_left') AND name NOT LIKE 'sqlite_autoindex_%')
LIMIT 1;

-- kUseWal: answers with the mode that it got.
PRAGMA journal_mode = WAL;

-- kSyncEveryCommit
PRAGMA synchronous = FULL;

-- kSyncAtCheckpoints
PRAGMA synchronous = NORMAL;

-- kBegin: with the write lock from the start, so that no later statement can fail for want of it.
BEGIN IMMEDIATE;

-- kCommit
COMMIT;

-- kRollback
ROLLBACK;

-- kReadMeta
SELECT boot_id, epoch, ceiling FROM meta;

-- kEnterEpoch: a new boot. What it may have lost of the one before had tokens up to the ceiling.
UPDATE meta SET boot_id = ?1, epoch = epoch + 1, high_water = max(high_water, ceiling), ceiling = ?2;

-- kEmptyQueues: the waiters ended with their boot.
DELETE FROM queue;

-- kEmptyLeases: and so did the holders.
DELETE FROM leases;

-- kRaiseCeiling
UPDATE meta SET ceiling = max(ceiling, ?1);

-- kLoad: the row of a name, if there is one, beside the row of meta, and whether a claim waits.
SELECT
  m.epoch, m.high_water, m.ceiling,
  r.epoch, r.last_token, r.capacity, r.hits, r.window_ends, r.leases,
  EXISTS (SELECT 1 FROM queue AS q WHERE q.name = ?1)
FROM meta AS m LEFT JOIN records AS r ON r.name = ?1
WHERE m.id = 1;

-- kSave
INSERT INTO records (name, epoch, last_token, capacity, hits, window_ends, idle_from, leases)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (name) DO UPDATE SET
  epoch = ?2, last_token = ?3, capacity = ?4, hits = ?5, window_ends = ?6, idle_from = ?7,
  leases = ?8;

-- kList: the rows with names from ?1 until before ?2, and whether they are in use at ?3.
SELECT
  m.epoch, m.high_water, m.ceiling,
  r.epoch, r.last_token, r.capacity, r.hits, r.window_ends, r.leases,
  r.name, r.idle_from > ?3 AND r.epoch = m.epoch
FROM meta AS m, records AS r
WHERE m.id = 1 AND r.name >= ?1 AND r.name < ?2
ORDER BY r.name;

-- kSweepNext: where the clean-up goes on, and whether a row has been a tombstone since before ?1.
SELECT
  m.epoch, m.high_water, m.ceiling,
  r.epoch, r.last_token, r.capacity, r.hits, r.window_ends, r.leases,
  r.name, r.epoch <> m.epoch OR r.idle_from <= ?1
FROM meta AS m, records AS r
WHERE m.id = 1 AND r.name > m.swept_until
ORDER BY r.name
LIMIT ?2;

-- kForget
DELETE FROM records WHERE name = ?1;

-- kSwept: the tokens of what was forgotten live on in the high-water mark.
UPDATE meta SET swept_until = ?1, high_water = max(high_water, ?2);

-- kFindLease
SELECT id, token, granted, expires, permits, owner, reason FROM leases
WHERE name = ?1 AND id = ?2;

-- kAllLeases: in the order in which they were granted.
SELECT id, token, granted, expires, permits, owner, reason FROM leases
WHERE name = ?1
ORDER BY token;

-- kEndedLeases: by the time ?2.
SELECT id, token, granted, expires, permits, owner, reason FROM leases
WHERE name = ?1 AND expires <= ?2;

-- kFirstToEnd: of those that have not ended by the time ?2.
SELECT id, token, granted, expires, permits, owner, reason FROM leases
WHERE name = ?1 AND expires > ?2
ORDER BY expires, id
LIMIT ?3;

-- kLastToEnd
SELECT id, token, granted, expires, permits, owner, reason FROM leases
WHERE name = ?1 AND expires > ?2
ORDER BY expires DESC, id DESC
LIMIT ?3;

-- kLastExpiry
SELECT expires FROM leases WHERE name = ?1 ORDER BY expires DESC LIMIT 1;

-- kPutLease
INSERT INTO leases (name, id, token, granted, expires, permits, owner, reason)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (name, id) DO UPDATE SET
  token = ?3, granted = ?4, expires = ?5, permits = ?6, owner = ?7, reason = ?8;

-- kDropLease
DELETE FROM leases WHERE name = ?1 AND id = ?2;

-- kDropLeases
DELETE FROM leases WHERE name = ?1;

-- kFreePages
PRAGMA freelist_count;

-- kPages
PRAGMA page_count;

-- kGiveBackPages: to the file system, a few at a time. Does nothing in a file that was made without
-- auto_vacuum.
PRAGMA incremental_vacuum(64);

-- kHasQueue
SELECT count(*) FROM sqlite_schema WHERE name = 'queue';

-- kMembers: the waiters of a name, the first one first.
SELECT place, id_high, id_low, owner, reason, address, until FROM queue WHERE name = ?1
ORDER BY place
LIMIT ?2;

-- kRemoveMembers: up to this place.
DELETE FROM queue WHERE name = ?1 AND place <= ?2;

-- kAhead: where those before this place sleep, the first one first.
SELECT address FROM queue WHERE name = ?1 AND place < ?2 AND until > ?3
ORDER BY place
LIMIT ?4;

-- kJoin: at the end.
INSERT INTO queue (name, place, id_high, id_low, owner, reason, address, until)
VALUES (?1, 1 + (SELECT ifnull(max(place), 0) FROM queue WHERE name = ?1), ?2, ?3, ?4, ?5, ?6, ?7)
RETURNING place;

-- kFindMember
SELECT until FROM queue WHERE name = ?1 AND place = ?2 AND id_high = ?3 AND id_low = ?4;

-- kKeepMember
UPDATE queue SET until = ?3 WHERE name = ?1 AND place = ?2;

-- kLeave
DELETE FROM queue WHERE name = ?1 AND place = ?2 AND id_high = ?3 AND id_low = ?4;

-- kEmptyQueue
DELETE FROM queue WHERE name = ?1;

-- kHasObjects
SELECT count(*) FROM sqlite_schema WHERE name IN ('objects', 'object_data', 'objects_left');

-- kFindObject
SELECT number, token, stored FROM objects WHERE type = ?1 AND id = ?2;

-- kLoadObject: as kFindObject, and the data.
SELECT o.number, o.token, o.stored, d.data
FROM objects AS o LEFT JOIN object_data AS d ON d.number = o.number
WHERE o.type = ?1 AND o.id = ?2;

-- kAddObject
INSERT INTO objects (type, id, token, stored, epoch, used) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
RETURNING number;

-- kChangeObject
UPDATE objects SET token = ?2, stored = ?3, epoch = ?4, used = ?5 WHERE number = ?1;

-- kPutData
INSERT INTO object_data (number, data) VALUES (?1, ?2)
ON CONFLICT (number) DO UPDATE SET data = ?2;

-- kDropData
DELETE FROM object_data WHERE number = ?1;

-- kDropObject
DELETE FROM objects WHERE number = ?1;

-- kForgetObjects: a few of those of which only the token is left, unused since ?2 in the epoch ?1.
DELETE FROM objects WHERE number IN (
  SELECT number FROM objects
  WHERE stored = 0 AND (epoch, used) <= (?1, ?2)
  ORDER BY epoch, used
  LIMIT ?3
);

-- kListObjects: with ids from ?2 on, and after ?3.
SELECT id FROM objects WHERE type = ?1 AND id >= ?2 AND id > ?3 AND stored <> 0 ORDER BY id;
