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
    SELECT a.name, a.id, max(a.ttl) AS ttl
    FROM unnest(p_names, p_ids, p_ttls) AS a(name, id, ttl) GROUP BY a.name, a.id
  ), mutexes AS (
    UPDATE {schema}.records AS m SET expires = greatest(m.expires, t + a.ttl)
    FROM asked AS a
    WHERE m.name = a.name AND m.holder = a.id AND m.capacity = 1 AND m.expires > t
      AND m.expires <= t + 63244800000000 AND m.last_token BETWEEN 0 AND t + 31622400000000
    RETURNING a.name, a.id
  ), others AS (
    UPDATE {schema}.leases AS l SET expires = greatest(l.expires, t + a.ttl)
    FROM asked AS a
    WHERE l.name = a.name AND l.id = a.id AND l.expires > t
      AND l.expires <= t + 63244800000000 AND l.token BETWEEN 0 AND t + 31622400000000
    RETURNING a.name, a.id
  ), renewed AS (
    SELECT * FROM mutexes UNION ALL SELECT * FROM others
  ), damaged AS (
    SELECT a.name, a.id FROM asked AS a JOIN {schema}.records AS m ON m.name = a.name AND m.holder = a.id
    WHERE m.expires > t + 63244800000000 OR m.last_token NOT BETWEEN 0 AND t + 31622400000000
    UNION
    SELECT a.name, a.id FROM asked AS a JOIN {schema}.leases AS l ON l.name = a.name AND l.id = a.id
    WHERE l.expires > t + 63244800000000 OR l.token NOT BETWEEN 0 AND t + 31622400000000
  )
  SELECT string_agg(CASE WHEN n.id IS NOT NULL THEN 'r' WHEN d.id IS NOT NULL THEN 'f' ELSE 'l' END, ''
                    ORDER BY a.n)
  INTO outcomes
  FROM unnest(p_names, p_ids) WITH ORDINALITY AS a(name, id, n)
  LEFT JOIN renewed AS n ON n.name = a.name AND n.id = a.id
  LEFT JOIN damaged AS d ON d.name = a.name AND d.id = a.id;
  RETURN outcomes;
END
$holdfast$ LANGUAGE plpgsql;
