-- kSchema: no unique index on purpose: an index cannot reject near duplicates. The transaction has the
-- write lock from the start, so that processes that create the table at the same time wait for each other.
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS invoices (
  account    TEXT NOT NULL,
  number     TEXT NOT NULL,
  vendor     TEXT NOT NULL,
  vendor_key TEXT NOT NULL,
  cents      INTEGER NOT NULL,
  day        INTEGER NOT NULL,
  file_hash  TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS invoices_of_vendor ON invoices (account, vendor_key);
COMMIT;

-- kCandidates: the invoices that may match one; match() decides.
SELECT account, number, vendor, cents, day FROM invoices
WHERE account = ?1 AND vendor_key = ?2 AND (number = ?3 OR day BETWEEN ?4 AND ?5)
ORDER BY rowid;

-- kAll
SELECT account, number, vendor, cents, day FROM invoices ORDER BY rowid;

-- kInsert
INSERT INTO invoices (account, number, vendor, vendor_key, cents, day, file_hash)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);
