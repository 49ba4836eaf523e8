-- kAssertHeld: for transactions of the user's own. Raises an error (SQLSTATE LK002) unless the lease with this
-- token holds the name now; and until the transaction ends, the name is granted to nobody else, whatever
-- happens to the lease. Renewals and releases go on meanwhile.
--
-- A transaction can still change a row that it has locked FOR KEY SHARE. A grant of the name has to lock the row FOR
-- UPDATE first, and cannot.
CREATE OR REPLACE FUNCTION {schema}.assert_held(p_name bytea, p_token bigint) RETURNS void AS $holdfast$
DECLARE
  t bigint;
  r {schema}.records;
  l {schema}.leases;
BEGIN
  SELECT * INTO r FROM {schema}.records AS m WHERE m.name = p_name FOR KEY SHARE;
  IF FOUND AND r.capacity > 1 THEN
    SELECT * INTO l FROM {schema}.leases AS m WHERE m.name = p_name AND m.token = p_token FOR KEY SHARE;
  ELSIF FOUND AND r.holder IS NOT NULL AND r.last_token = p_token THEN
    l.expires := r.expires;
  END IF;
  t := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
  IF l.expires > t THEN
    RETURN;
  END IF;
  RAISE EXCEPTION 'the lease with the token % does not hold the name any more', p_token
    USING ERRCODE = 'LK002', HINT = 'Another may hold it. Roll back, and acquire the lock again.';
END
$holdfast$ LANGUAGE plpgsql;

-- With the name as text.
CREATE OR REPLACE FUNCTION {schema}.assert_held(p_name text, p_token bigint) RETURNS void AS $holdfast$
BEGIN
  PERFORM {schema}.assert_held(convert_to(p_name, 'UTF8'), p_token);
END
$holdfast$ LANGUAGE plpgsql;
