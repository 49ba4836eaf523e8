-- kRecords: what the operations have in common.

-- Returns the record if Holdfast can have written its numbers, and raises LK001 otherwise. Tokens are the
-- server's clock, or a little more: one that is a year ahead would lock everybody out of a fence for as long.
CREATE OR REPLACE FUNCTION {schema}.checked(r {schema}.records, t bigint) RETURNS {schema}.records AS $holdfast$
BEGIN
  IF r.last_token NOT BETWEEN 0 AND t + 31622400000000
      OR r.capacity NOT BETWEEN 1 AND 4294967295 OR r.used NOT BETWEEN 0 AND r.capacity
      OR r.hits NOT BETWEEN 0 AND 4294967295 OR r.expires > t + 63244800000000
      OR r.counts_until > t + 63244800000000 THEN
    RAISE EXCEPTION 'the record has numbers that Holdfast has not written' USING ERRCODE = 'LK001';
  END IF;
  -- A mutex without a holder is free, also if it was released after `t` was read, or the clock was set back since.
  IF r.capacity = 1 AND r.holder IS NULL THEN
    r.expires := least(r.expires, t);
  END IF;
  RETURN r;
END
$holdfast$ LANGUAGE plpgsql;

-- Removes the leases that have ended, and returns how many permits they had. One that a transaction of the
-- user's holds (assert_held) stays, and keeps its permits.
CREATE OR REPLACE FUNCTION {schema}.drop_ended(p_name bytea, t bigint) RETURNS bigint AS $holdfast$
DECLARE
  freed bigint;
BEGIN
  WITH ended AS (
    SELECT l.id FROM {schema}.leases AS l WHERE l.name = p_name AND l.expires <= t FOR UPDATE SKIP LOCKED
  ), dropped AS (
    DELETE FROM {schema}.leases AS l USING ended AS e WHERE l.name = p_name AND l.id = e.id
    RETURNING l.permits
  )
  SELECT coalesce(sum(d.permits), 0) INTO freed FROM dropped AS d;
  RETURN freed;
END
$holdfast$ LANGUAGE plpgsql;

-- The record without the waits that have ended, and without that of `p_without`.
CREATE OR REPLACE FUNCTION {schema}.prune_waits(r {schema}.records, t bigint, p_without uuid)
RETURNS {schema}.records AS $holdfast$
BEGIN
  SELECT coalesce(array_agg(w.id ORDER BY w.n), '{}'), coalesce(array_agg(w.permits ORDER BY w.n), '{}'),
         coalesce(array_agg(w.until ORDER BY w.n), '{}'), coalesce(array_agg(w.store ORDER BY w.n), '{}')
  INTO r.wait_ids, r.wait_permits, r.wait_until, r.wait_stores
  FROM unnest(r.wait_ids, r.wait_permits, r.wait_until, r.wait_stores)
       WITH ORDINALITY AS w(id, permits, until, store, n)
  WHERE w.until > t AND w.id IS DISTINCT FROM p_without;
  RETURN r;
END
$holdfast$ LANGUAGE plpgsql;

-- Returns the time for which waiters that want more hold back this claim.
CREATE OR REPLACE FUNCTION {schema}.held_back_for(r {schema}.records, t bigint, p_id uuid, p_permits bigint)
RETURNS bigint AS $holdfast$
  SELECT coalesce(max(w.until - t), 0)
  FROM unnest(r.wait_ids, r.wait_permits, r.wait_until) AS w(id, permits, until)
  WHERE w.id <> p_id AND w.permits > p_permits AND w.until > t
$holdfast$ LANGUAGE sql;

-- In how long so many leases will have ended that the permits are free: `frees_in` of lease_rules.
CREATE OR REPLACE FUNCTION {schema}.frees_in(
  p_name bytea, p_used bigint, p_permits bigint, p_capacity bigint, t bigint) RETURNS bigint AS $holdfast$
DECLARE
  to_end   bigint := p_used + p_permits - p_capacity;
  may_stay bigint := p_capacity - p_permits;
  ends     bigint;
BEGIN
  IF to_end <= may_stay + 1 OR may_stay >= 128 THEN
    SELECT s.expires INTO ends FROM (
      SELECT l.expires, l.id, sum(l.permits) OVER (ORDER BY l.expires, l.id) - l.permits AS before
      FROM (SELECT x.expires, x.id, x.permits FROM {schema}.leases AS x
            WHERE x.name = p_name AND x.expires > t ORDER BY x.expires, x.id LIMIT least(to_end, 128)) AS l
    ) AS s WHERE s.before < to_end ORDER BY s.expires DESC, s.id DESC LIMIT 1;
  ELSE
    SELECT s.expires INTO ends FROM (
      SELECT l.expires, l.id, sum(l.permits) OVER (ORDER BY l.expires DESC, l.id DESC) - l.permits AS before
      FROM (SELECT x.expires, x.id, x.permits FROM {schema}.leases AS x
            WHERE x.name = p_name AND x.expires > t ORDER BY x.expires DESC, x.id DESC LIMIT may_stay + 1) AS l
    ) AS s WHERE s.before < may_stay + 1 ORDER BY s.expires, s.id LIMIT 1;
  END IF;
  RETURN coalesce(ends - t, 0);
END
$holdfast$ LANGUAGE plpgsql SET enable_sort = off SET jit = off;

-- Writes the record.
CREATE OR REPLACE FUNCTION {schema}.save(r {schema}.records) RETURNS void AS $holdfast$
BEGIN
  UPDATE {schema}.records AS m
  SET last_token = r.last_token, capacity = r.capacity, holder = r.holder, owner = r.owner, reason = r.reason,
      granted = r.granted, expires = r.expires, used = r.used, wait_ids = r.wait_ids,
      wait_permits = r.wait_permits, wait_until = r.wait_until, wait_stores = r.wait_stores, hits = r.hits,
      log_ends = r.log_ends, log_counts = r.log_counts, counts_until = r.counts_until, queued = r.queued
  WHERE m.name = r.name;
END
$holdfast$ LANGUAGE plpgsql;

-- Returns whether a user's transaction has asserted a lease of this record (assert_held) and still runs. The caller has
-- locked the row: an assertion lets it be changed, but not locked FOR UPDATE.
CREATE OR REPLACE FUNCTION {schema}.is_asserted(p_name bytea) RETURNS boolean AS $holdfast$
BEGIN
  PERFORM FROM {schema}.records AS m WHERE m.name = p_name FOR UPDATE SKIP LOCKED;
  RETURN NOT FOUND;
END
$holdfast$ LANGUAGE plpgsql;

-- The live leases of a name. `p_most`: only those that end first.
CREATE OR REPLACE FUNCTION {schema}.holders(r {schema}.records, t bigint, p_most bigint)
RETURNS SETOF {schema}.answer AS $holdfast$
BEGIN
  IF r.capacity = 1 THEN
    IF r.expires > t THEN
      RETURN NEXT ROW('holder', r.holder, r.owner, r.reason, 1, r.last_token, t - r.granted, r.expires - t)::{schema}.answer;
    END IF;
    RETURN;
  END IF;
  RETURN QUERY
    SELECT 'holder', l.id, l.owner, l.reason, l.permits, l.token, t - l.granted, l.expires - t
    FROM (SELECT * FROM {schema}.leases AS x WHERE x.name = r.name AND x.expires > t
          ORDER BY x.expires, x.id LIMIT p_most) AS l
    ORDER BY l.token;
END
$holdfast$ LANGUAGE plpgsql SET enable_sort = off SET jit = off;

-- Forgets names that have not been in use since `p_before`, in one page of the table, chosen at random.
-- Each new name has a chance to look at a page, so that tombstones are never many more than the retention
-- makes them, and nobody has to look at all names.
CREATE OR REPLACE FUNCTION {schema}.sweep_records(p_before bigint) RETURNS void AS $holdfast$
DECLARE
  pages bigint := pg_relation_size({records_text}::regclass) / current_setting('block_size')::bigint;
  page  bigint := floor(random() * pages);
BEGIN
  WITH old AS (
    SELECT m.name FROM {schema}.records AS m
    WHERE m.ctid >= format('(%s,0)', page)::tid AND m.ctid < format('(%s,0)', page + 1)::tid
      AND greatest(m.expires, m.counts_until) <= p_before
      AND NOT EXISTS (SELECT FROM unnest(m.wait_until) AS w(until) WHERE w.until > p_before)
      AND NOT EXISTS (SELECT FROM {schema}.leases AS l WHERE l.name = m.name AND l.expires > p_before)
      AND NOT EXISTS (SELECT FROM {schema}.queue AS q WHERE q.name = m.name AND q.until > p_before)
    FOR UPDATE OF m SKIP LOCKED
  ), ended AS (
    DELETE FROM {schema}.leases AS l USING old AS o WHERE l.name = o.name
  ), left_queue AS (
    DELETE FROM {schema}.queue AS q USING old AS o WHERE q.name = o.name
  )
  DELETE FROM {schema}.records AS m USING old AS o WHERE m.name = o.name;
END
$holdfast$ LANGUAGE plpgsql;
