-- kRenew: extends the leases that are still held. Returns a letter for each: `r`enewed, `l`ost, or `f`ailed,
-- because its record cannot be read. The holder of a mutex alone changes its row here, and every lease of
-- another name has a row of its own, so that no two batches wait for each other.
CREATE OR REPLACE FUNCTION {schema}.renew(p_names bytea[], p_ids uuid[], p_ttls bigint[], p_now bigint)
RETURNS text AS $holdfast$
DECLARE
  t        bigint := coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  outcomes text;
BEGIN
  WITH asked AS MATERIALIZED (
    SELECT a.name, a.id, max(a.ttl) AS ttl, array_agg(a.n) AS places
    FROM unnest(p_names, p_ids, p_ttls) WITH ORDINALITY AS a(name, id, ttl, n) GROUP BY a.name, a.id
  ), mutexes AS (
    UPDATE {schema}.records AS m SET expires = greatest(m.expires, t + a.ttl)
    FROM asked AS a
    WHERE m.name = a.name AND CASE WHEN m.holder = a.id THEN m.capacity = 1 AND m.expires > t
      AND m.expires <= t + 63244800000000 AND m.last_token BETWEEN 0 AND t + 31622400000000 END
    RETURNING a.places
  ), others AS (
    UPDATE {schema}.leases AS l SET expires = greatest(l.expires, t + a.ttl)
    FROM asked AS a
    WHERE l.name = a.name AND l.id = a.id AND CASE WHEN l.id = a.id THEN l.expires > t
      AND l.expires <= t + 63244800000000 AND l.token BETWEEN 0 AND t + 31622400000000 END
    RETURNING a.places
  ), damaged AS (
    SELECT a.places FROM asked AS a JOIN {schema}.records AS m ON m.name = a.name AND m.holder = a.id
    WHERE m.expires > t + 63244800000000 OR m.last_token NOT BETWEEN 0 AND t + 31622400000000
    UNION ALL
    SELECT a.places FROM asked AS a JOIN {schema}.leases AS l ON l.name = a.name AND l.id = a.id
    WHERE l.expires > t + 63244800000000 OR l.token NOT BETWEEN 0 AND t + 31622400000000
  ), answers AS (
    SELECT unnest(m.places) AS n, 3 AS letter FROM mutexes AS m
    UNION ALL SELECT unnest(o.places), 3 FROM others AS o
    UNION ALL SELECT unnest(d.places), 2 FROM damaged AS d
    UNION ALL SELECT generate_series(1, cardinality(p_names)), 1
  )
  -- Not by a join with the places, which compares each lease with each if the planner expects few of them.
  SELECT string_agg(substr('lfr', b.letter, 1), '' ORDER BY b.n) INTO outcomes
  FROM (SELECT s.n, max(s.letter) AS letter FROM answers AS s GROUP BY s.n) AS b;
  RETURN outcomes;
END
$holdfast$ LANGUAGE plpgsql;
