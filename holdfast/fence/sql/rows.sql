-- kAddFence: what a table of resources needs, once.
ALTER TABLE {table} ADD COLUMN {fence} BIGINT NOT NULL DEFAULT 0;

-- kUpdate: changes one row, or none if its fence is newer.
UPDATE {table} AS t SET {assignments}{fence} = {token}
WHERE {matches} AND t.{fence} <= {token};

-- kUpsert: the same, and makes the row if it is not there.
INSERT INTO {table} AS t ({columns}, {fence}) VALUES ({values}, {token})
ON CONFLICT ({keys}) DO UPDATE SET {copies}{fence} = excluded.{fence}
WHERE t.{fence} <= excluded.{fence};

-- kNewestOfRow: no row if there is none.
SELECT t.{fence} FROM {table} AS t WHERE {matches};
