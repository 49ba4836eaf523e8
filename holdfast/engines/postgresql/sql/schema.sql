-- kTables: what the engine keeps. Times are microseconds since 1970, by the server's clock. `{schema}` is
-- the name of the schema, quoted.
DO $holdfast$
BEGIN
  -- Not CREATE SCHEMA IF NOT EXISTS, which asks for the right to create even where there is one.
  IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = {schema_text}) THEN
    CREATE SCHEMA {schema};
  END IF;
  IF coalesce(substring(obj_description(to_regclass({records_text}), 'pg_class') FROM '^Holdfast ([0-9]{1,9})$')::int, 0)
      > {version} THEN
    RAISE EXCEPTION 'the schema was made by a newer Holdfast' USING ERRCODE = 'LK003';
  END IF;
  -- The answer of most functions: rows whose `kind` says what the other columns are.
  IF to_regtype({answer_text}) IS NULL THEN
    CREATE TYPE {schema}.answer AS (
      kind text, id uuid, owner bytea, reason bytea, permits bigint, token bigint, held_for bigint,
      time_left bigint);
  END IF;
END
$holdfast$;

-- A row for each name, whose lock serialises what happens to the name. It stays when the name is free, as
-- a tombstone, for its token. One row is all there is about a mutex, and no indexed column ever changes:
-- a claim or a release rewrites it within its page.
CREATE TABLE IF NOT EXISTS {schema}.records (
  name         bytea   PRIMARY KEY,
  last_token   bigint  NOT NULL DEFAULT 0,
  capacity     bigint  NOT NULL DEFAULT 1,
  -- The lease of a mutex (capacity 1), whose token is last_token.
  holder       uuid,
  owner        bytea   NOT NULL DEFAULT '',
  reason       bytea   NOT NULL DEFAULT '',
  granted      bigint  NOT NULL DEFAULT 0,
  -- The end of that lease; of another name, the time of the row's last change.
  expires      bigint  NOT NULL DEFAULT 0,
  -- The permits of the rows in `leases`; zero for a mutex.
  used         bigint  NOT NULL DEFAULT 0,
  -- Claims that hold back those that want less, in the order of their last refusals.
  wait_ids     uuid[]   NOT NULL DEFAULT '{}',
  wait_permits bigint[] NOT NULL DEFAULT '{}',
  wait_until   bigint[] NOT NULL DEFAULT '{}',
  wait_stores  bigint[] NOT NULL DEFAULT '{}',
  -- Hits in the fixed window that ends at `counts_until`; or, if zero, those of the sliding window: when
  -- they stop counting, and how many. Its last ones do at `counts_until`.
  hits         bigint  NOT NULL DEFAULT 0,
  log_ends     bigint[] NOT NULL DEFAULT '{}',
  log_counts   bigint[] NOT NULL DEFAULT '{}',
  counts_until bigint  NOT NULL DEFAULT 0,
  -- True if the name may have rows in `queue`.
  queued       boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- The leases of names with a capacity of more than one.
CREATE TABLE IF NOT EXISTS {schema}.leases (
  name    bytea  NOT NULL,
  id      uuid   NOT NULL,
  token   bigint NOT NULL,
  granted bigint NOT NULL,
  expires bigint NOT NULL,
  permits bigint NOT NULL,
  owner   bytea  NOT NULL,
  reason  bytea  NOT NULL,
  PRIMARY KEY (name, id)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX IF NOT EXISTS leases_by_end ON {schema}.leases (name, expires, id);

-- The waiters for each name, the first to come first: claims for a mutex, to which a release grants the
-- name, and stores that are sent a hint.
CREATE TABLE IF NOT EXISTS {schema}.queue (
  name   bytea  NOT NULL,
  place  bigint GENERATED ALWAYS AS IDENTITY,
  -- The claim; of a store that is sent hints, its number.
  id     uuid   NOT NULL,
  is_claim boolean NOT NULL,
  -- The store that listens, or 0: the waiter polls.
  store  bigint NOT NULL,
  owner  bytea  NOT NULL,
  reason bytea  NOT NULL,
  -- The time at which the member is forgotten unless its claim is sent again.
  until  bigint NOT NULL,
  PRIMARY KEY (name, place),
  UNIQUE (name, id)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- A repository of objects. `data` is null where only the token is left, unused since `used`.
CREATE TABLE IF NOT EXISTS {schema}.objects (
  type  bytea       NOT NULL,
  id    bytea       NOT NULL,
  token numeric(20) NOT NULL,
  data  bytea,
  used  bigint      NOT NULL,
  PRIMARY KEY (type, id)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- kVersion: written last.
COMMENT ON TABLE {schema}.records IS 'Holdfast {version}';
