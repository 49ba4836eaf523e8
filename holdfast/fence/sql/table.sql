-- kCreate: what a database needs, once.
CREATE TABLE IF NOT EXISTS {table} (
  resource TEXT NOT NULL PRIMARY KEY,
  fence BIGINT NOT NULL
);

-- kCheck: changes one row, or none if a newer token was seen; locks it until the transaction ends.
INSERT INTO {table} AS t (resource, fence) VALUES (?1, ?2)
ON CONFLICT (resource) DO UPDATE SET fence = excluded.fence WHERE t.fence <= excluded.fence;

-- kNewest: no row if none was seen.
SELECT fence FROM {table} WHERE resource = ?1;
