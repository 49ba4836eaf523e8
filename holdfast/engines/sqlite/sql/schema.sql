-- kPageSize: only a new file takes it. A record is a few hundred bytes, and every change writes a
-- whole page to the log: half the usual size makes it nearly twice as fast. With the second line the
-- clean-up can give pages back to the file system (kGiveBackPages).
PRAGMA page_size = 2048;
PRAGMA auto_vacuum = INCREMENTAL;

-- kSchema: what a new file is made of, with kQueue and kLeases.
CREATE TABLE meta (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  -- The boot of the machine that the records belong to, and how many there were before it.
  boot_id     TEXT    NOT NULL,
  epoch       INTEGER NOT NULL,
  -- The greatest token of a record that was forgotten.
  high_water  INTEGER NOT NULL,
  -- The greatest token that may be minted; on the disk, synced, before the first one above the last.
  ceiling     INTEGER NOT NULL,
  -- The name at which the last step of the clean-up ended.
  swept_until BLOB    NOT NULL
) STRICT;

INSERT INTO meta VALUES (1, '', 0, 0, 0, x'');

-- One row is all there is about a mutex, so that a claim or a release of it writes one page.
-- Times are nanoseconds of the boot clock in the row's epoch, and void in a later one.
CREATE TABLE records (
  name        BLOB    NOT NULL PRIMARY KEY,
  epoch       INTEGER NOT NULL,
  last_token  INTEGER NOT NULL,
  capacity    INTEGER NOT NULL,
  hits        INTEGER NOT NULL,
  window_ends INTEGER NOT NULL,
  -- The end of the last lease and of the window: from then on the row is a tombstone.
  idle_from   INTEGER NOT NULL,
  -- See internal/lease_codec.h.
  leases      BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

-- "Hold", for file(1) and for ourselves.
PRAGMA application_id = 0x486f6c64;

-- kObjects: what a repository of objects adds to a file. Programs from before it was there leave it
-- alone, so the version stays.
CREATE TABLE IF NOT EXISTS objects (
  number INTEGER PRIMARY KEY,
  type   BLOB    NOT NULL,
  id     BLOB    NOT NULL,
  -- The greatest that was seen; beyond 2^63 it shows as a negative number.
  token  INTEGER NOT NULL,
  -- 1 if there are data, 0 if only the token is left.
  stored INTEGER NOT NULL,
  -- The last use of a token that is left, in nanoseconds of the boot clock in its epoch.
  epoch  INTEGER NOT NULL,
  used   INTEGER NOT NULL,
  UNIQUE (type, id)
) STRICT;

-- Apart, so that a new token does not write them again.
CREATE TABLE IF NOT EXISTS object_data (
  number INTEGER PRIMARY KEY,
  data   BLOB    NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS objects_left ON objects (epoch, used) WHERE stored = 0;

-- kQueue: the claims that wait for a mutex. Files that were made before it was there get it when they
-- are opened; the version stays. All of it is void in the next boot.
CREATE TABLE IF NOT EXISTS queue (
  name    BLOB    NOT NULL,
  -- The least of a name is its first waiter.
  place   INTEGER NOT NULL,
  id_high INTEGER NOT NULL,
  id_low  INTEGER NOT NULL,
  owner   BLOB    NOT NULL,
  reason  BLOB    NOT NULL,
  -- See internal/wake_board.h.
  address INTEGER NOT NULL,
  -- The time at which the claim is forgotten unless it is sent again, in nanoseconds of the boot clock.
  until   INTEGER NOT NULL,
  PRIMARY KEY (name, place)
) STRICT, WITHOUT ROWID;

-- kLeases: the leases of names with a capacity of more than one, a row each. Version 2 of the file: in
-- one of version 1, all leases of a name are in its record, where they are read until the record is
-- next written. All of it is void in the next boot.
CREATE TABLE IF NOT EXISTS leases (
  name    BLOB    NOT NULL,
  id      TEXT    NOT NULL,
  token   INTEGER NOT NULL,
  -- Nanoseconds of the boot clock.
  granted INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  permits INTEGER NOT NULL,
  owner   BLOB    NOT NULL,
  reason  BLOB    NOT NULL,
  PRIMARY KEY (name, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS leases_by_end ON leases (name, expires);

PRAGMA user_version = 2;
